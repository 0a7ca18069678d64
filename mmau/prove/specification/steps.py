"""The steps that sums are made of (golden: `Format.decode`, golden/arithmetic/steps.py, golden/arithmetic/specials.py)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add, mul, or_, xor
from typing import Literal

from bitwuzla import Kind

from golden.arithmetic.coded_format import CodedFormat, IntegerElement
from golden.arithmetic.formats import Cls, Format, IntegerFormat
from golden.arithmetic.rounding import Mode
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number, any_of, choose, largest, total, width_of
from mmau.prove.specification.step_results import Aligned, AlignedLost, Exponent, Operand, Special, Term, Total

Subnormals = Literal["kept", "+0", "±0"]
"""The treatment of a subnormal operand: its value, +0, or a zero of its sign."""


def no(terms: Terms) -> Flag:
    """A flag that is never set."""
    return Flag(terms, terms.number(0, 1))


def decode(terms: Terms, fmt: Format, code: Bits, subnormals: Subnormals = "kept") -> Operand:
    """Step decode (golden: `Format.decode`, `steps.flushed`, `ftz_addmul.flush_input`).

    The exponent and the significand of infinity and NaN come from their fields, in the widths of finite operands.
    """
    if isinstance(fmt, CodedFormat | IntegerFormat):
        return _decode_element(terms, fmt, code)
    low = fmt.pad_bits + fmt.man_bits
    field = terms.part(code, low + fmt.exp_bits - 1, low)
    stored = Number.read(terms, field, 0, (1 << fmt.exp_bits) - 1, signed=False)
    none = no(terms)
    if not fmt.has_zero:  # ue8m0: 2^(code − bias), and one NaN
        is_finite = fmt.specials == "finite"
        nan, exp = none if is_finite else stored.equals(stored.high), _in_range(stored - fmt.bias, fmt)
        zero, one = Flag(terms, _not_folded(none.bits)), Number.constant(terms, 1)
        return Operand(none, exp, replace(one, bits=_not_folded(one.bits)), zero, none, nan, bounded=is_finite)
    mantissa = _mantissa(terms, fmt, code)
    sign = Flag(terms, terms.part(code, fmt.width - 1, fmt.width - 1)) if fmt.signed else none
    is_low, empty = stored.is_zero(), mantissa.is_zero()
    if fmt.subnormals:
        exp = _in_range(choose(is_low, Number.constant(terms, 1), stored) - fmt.bias, fmt)
        sig = choose(is_low, mantissa, mantissa + (1 << fmt.man_bits))
    else:
        exp = _in_range(stored - fmt.bias, fmt)
        sig = choose(is_low & empty, Number.constant(terms, 0), mantissa + (1 << fmt.man_bits))
    is_top = stored.equals(stored.high)
    inf, nan, zero = none, none, is_low & empty
    match fmt.specials:
        case "ieee":
            inf, nan = is_top & empty, is_top & ~empty
        case "fn" | "merged":
            nan = is_top & mantissa.equals(mantissa.high)
        case "fnuz":
            nan = sign & zero
            zero = zero & ~nan
        case "p3109" if fmt.signed:
            nan, inf = sign & zero, is_top & mantissa.equals(mantissa.high)
            zero = zero & ~nan
        case "p3109":
            whole = stored.times_two_to(fmt.man_bits) + mantissa
            inf, nan = whole.equals(whole.high - 1), whole.equals(whole.high)
    bounded = fmt.specials != "ieee"  # in other formats infinity and NaN have an exponent that numbers have too
    if subnormals == "kept":
        return Operand(sign, exp, sig, zero, inf, nan, bounded)
    if not fmt.subnormals:  # nothing to flush
        return Operand(sign, exp, sig, zero, inf, nan, bounded, True)
    flushed = is_low & ~empty
    kept_sign = sign if subnormals == "±0" else sign & ~flushed
    return Operand(kept_sign, exp, choose(flushed, Number.constant(terms, 0), sig), zero | flushed, inf, nan, bounded, True)


def _decode_element(terms: Terms, fmt: CodedFormat | IntegerFormat, code: Bits) -> Operand:
    """An integer, in two's complement if it has a sign; or a code of a table, compared with all codes."""
    none, number = no(terms), Number.constant
    if isinstance(fmt, IntegerElement | IntegerFormat):
        integer = fmt.integer if isinstance(fmt, IntegerElement) else fmt
        low, high = integer.lowest, integer.max_finite
        value = Number.read(terms, code, low, high, signed=fmt.signed)
        negative = value < 0 if fmt.signed else none
        sig = choose(negative, -value, value).within(0, max(-low, high)).loosened(0, fmt.codes - 1)
        exp = number(terms, fmt.e_min)
        exp = replace(exp, bits=_not_folded(exp.bits))
        return Operand(negative, exp, sig, value.is_zero(), none, none, bounded=True)
    place = Number.read(terms, code, 0, fmt.codes - 1, signed=False)
    chosen = [(place.equals(k), fmt.decode(k)) for k in range(fmt.codes)]
    exp, sig = number(terms, fmt.e_min), number(terms, 0)
    for here, x in chosen:
        exp, sig = choose(here, number(terms, x.exp), exp), choose(here, number(terms, x.sig), sig)
    sign = any_of([none, *(here for here, x in chosen if x.sign)])
    zero, inf, nan = (
        any_of([none, *(here for here, x in chosen if x.cls is cls)]) for cls in (Cls.ZERO, Cls.INFINITY, Cls.NAN)
    )
    return Operand(sign, exp, sig.loosened(0, (2 << fmt.man_bits) - 1), zero, inf, nan, bounded=True)


def _not_folded(bits: Bits) -> Bits:
    """A constant that later steps do not fold, as they do not fold its wires."""
    return Bits(bits.term, bits.width)


def _mantissa(terms: Terms, fmt: Format, code: Bits) -> Number:
    if not fmt.man_bits:
        return Number.constant(terms, 0)
    bits = terms.part(code, fmt.pad_bits + fmt.man_bits - 1, fmt.pad_bits)
    return Number.read(terms, bits, 0, (1 << fmt.man_bits) - 1, signed=False)


def _in_range(exp: Number, fmt: Format) -> Number:
    """An exponent in the width of a format's finite exponents, with a sign."""
    low, high = fmt.e_min, fmt.e_max
    width = width_of(min(low, -1), high)
    return Number.read(exp.terms, exp.terms.part(exp.held_in(width), width - 1, 0), low, high, signed=True)


def multiply(x: Operand, y: Operand, frac: int, zero_exp: int, overflow_exp: int | None = None) -> tuple[Term, Special]:
    """Step multiply: the exact product (a zero one with exponent `zero_exp`), and its flags if it is not finite (golden:
    `steps.multiply`, `specials.product_special`, `RoundedFDPA.product_special`).

    Args:
        frac: fraction bits of the product.
        overflow_exp: a product of magnitude 2**overflow_exp or more is an infinity; None for no such limit.
    """
    sign, sig = x.sign ^ y.sign, x.sig * y.sig
    exp = choose(x.zero | y.zero, Number.constant(sig.terms, zero_exp), x.exp + y.exp)
    infinite = x.inf | y.inf
    if overflow_exp is not None:
        # 2^overflow_exp or more: the significand has a one at the place of 2^overflow_exp or above it
        finite = Number.constant(sig.terms, overflow_exp + frac) - exp
        infinite = infinite | (~(x.zero | y.zero) & _reaches(sig, finite))
    nan = x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)
    return Term(sign, exp, sig, frac), Special(nan, infinite & ~sign, infinite & sign)


def _reaches(sig: Number, place: Number) -> Flag:
    """Whether sig ≥ 2**place."""
    width = sig.high.bit_length()
    reached = [sig.bit(k) & (place <= k) for k in range(width)]
    return any_of(reached)


def addend(z: Operand, c: Format, zero_exp: int) -> tuple[Term, Special]:
    """c as a term (a zero with exponent `zero_exp`), and its flags if it is not finite (golden: `steps.addend`)."""
    at_zero = z.exp if isinstance(c, IntegerFormat) else Number.constant(z.exp.terms, zero_exp)  # all have one exponent
    exp = choose(z.zero, at_zero, z.exp)
    return Term(z.sign, exp, z.sig, c.man_bits), Special(z.nan, z.inf & ~z.sign, z.inf & z.sign)


def scaled_product(product: Term, scales: Sequence[Operand], scale: Format, e_zero: int) -> Term:
    """Step scale: a product under its block's scales, one or two, a zero one at e_zero (golden: `STFDPA.scaled`).

    Where a factor is not finite, its numbers may be any that their bits hold; sum and product have room for these too, and
    the exponent has a sign, as in the circuit.
    """
    zero, exps = Number.constant(product.exp.terms, e_zero), [product.exp, *(x.exp for x in scales)]
    low, high = min(-1, e_zero, sum(exp.low for exp in exps)), max(e_zero, sum(exp.high for exp in exps))

    def at(is_zero: Flag) -> Number:
        exp = exps[0].free + reduce(add, [exp.free for exp in exps[1:]])
        return choose(is_zero, zero, exp.loosened(-1, -1)).within(low, high)

    if not scale.has_zero:  # powers of two
        return Term(product.sign, at(product.sig.is_zero()), product.sig, product.frac)
    sig = product.sig.free * reduce(mul, [x.sig.free for x in scales])
    sig = sig.loosened(0, (1 << product.sig.bits.width + len(scales) * (scale.man_bits + 1)) - 1)
    sign = reduce(xor, [x.sign for x in scales], product.sign)
    exp = at(reduce(or_, [x.zero for x in scales], product.sig.is_zero()))
    return Term(sign, exp, sig, product.frac + len(scales) * scale.man_bits)


def scaled_special(product: Term, special: Special, scales: Sequence[Operand], scale: Format) -> Special:
    """The flags of a product under its scales, if it is not finite then. A NaN scale gives NaN, and so do a zero and an
    infinity among the four factors (golden: `specials.scaled_special`)."""
    infinite, zero = special.pos_inf | special.neg_inf, any_of([x.zero for x in scales])
    if scale.infinity is not None:
        infinite, zero = reduce(or_, [x.inf for x in scales], infinite), zero | product.sig.is_zero()
    nan = reduce(or_, [x.nan for x in scales], special.nan) | (infinite & zero)
    if scale.infinity is not None:
        sign = reduce(xor, [x.sign for x in scales], product.sign)
        return Special(nan, infinite & ~sign, infinite & sign)
    if not scale.signed:
        return Special(nan, special.pos_inf, special.neg_inf)
    flips = reduce(xor, [x.sign for x in scales])  # of an infinite product; the flags alone say its sign
    positive, negative = special.pos_inf, special.neg_inf
    return Special(nan, (positive & ~flips) | (negative & flips), (negative & ~flips) | (positive & flips))


def combine(specials: Sequence[Special]) -> Special:
    """The special of a sum: NaN for a NaN or for infinities of both signs, else the infinity (`specials.combine`)."""
    pos, neg = any_of([s.pos_inf for s in specials]), any_of([s.neg_inf for s in specials])
    nan = any_of([s.nan for s in specials]) | (pos & neg)
    return Special(nan, pos & ~nan, neg & ~nan)


def max_exp(terms: Sequence[Term]) -> Exponent:
    """Step max_exp: the largest exponent (golden: `steps.max_exp`)."""
    return Exponent(largest([term.exp for term in terms]), tuple(terms))


def align(term: Term, e_max: Number, F: int, mode: Mode) -> Aligned:
    """Step align: the term at exponent e_max with F fraction bits, e_max at least the term's (golden: `steps.align`)."""
    gap = (e_max - term.exp).within(0, max(0, e_max.high - term.exp.low))
    placed = term.sig.times_two_to(max(0, F - term.frac))
    dropped = gap + max(0, term.frac - F)
    kept = placed.shifted_right(dropped)
    kept = kept.loosened(0, (1 << max(1, term.sig.bits.width - term.frac + F)) - 1)
    if mode == "RZ":
        return Aligned(term.sign, kept)
    lost = ~is_shifted_back(kept, dropped, placed)
    if mode == "RD":
        one, zero = Number.constant(kept.terms, 1), Number.constant(kept.terms, 0)
        return Aligned(term.sign, kept + choose(lost & term.sign, one, zero))
    return Aligned(term.sign, choose(lost & ~kept.bit(0), kept + 1, kept).within(0, kept.high | 1))


def align_lost(term: Term, e_max: Number, F: int, mode: Mode) -> AlignedLost:
    """Step align in mode RZ or RD, and whether a one was dropped (golden: `steps.is_truncated`)."""
    toward_zero, aligned = align(term, e_max, F, "RZ"), align(term, e_max, F, mode)
    gap = (e_max - term.exp).within(0, max(0, e_max.high - term.exp.low))
    placed = term.sig.times_two_to(max(0, F - term.frac))
    lost = ~is_shifted_back(toward_zero.aligned, gap + max(0, term.frac - F), placed)
    return AlignedLost(aligned.sign, aligned.aligned, lost)


def is_shifted_back(kept: Number, dropped: Number, placed: Number) -> Flag:
    """Whether a shift right by `dropped` lost no one: shifting back gives the original number."""
    terms, width = kept.terms, max(placed.bits.width, dropped.bits.width)
    back = terms.apply(Kind.BV_SHL, [kept.held_in(width), dropped.held_in(width)], width)
    return Flag(terms, terms.truth(terms.manager.mk_term(Kind.EQUAL, [back.term, placed.held_in(width).term])))


def accumulate(aligned: Sequence[Aligned]) -> Total:
    """Step accumulate: the exact sum (golden: `steps.accumulate`)."""
    exact = total(signed_terms(aligned))
    negative = exact < 0
    magnitude = choose(negative, -exact, exact).within(0, exact.high)
    return Total(negative, magnitude.loosened(0, (1 << magnitude.bits.width) - 1))


def signed_terms(aligned: Sequence[Aligned]) -> list[Number]:
    """Aligned terms with their signs, each bounded by a power of two."""
    signed = []
    for term in aligned:
        bound = 1 << (term.aligned.high - 1).bit_length()
        signed.append(choose(term.sign, -term.aligned, term.aligned).loosened(-bound, bound))
    return signed
