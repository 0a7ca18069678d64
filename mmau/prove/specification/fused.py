"""The fused operations as terms of their operands (golden/operations/)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul, or_, xor

from golden import Operation
from golden.arithmetic.formats import Format
from golden.arithmetic.specials import nvidia_nan
from golden.operations import EFDPA, GSTFDPA, STFDPA, TFDPA
from golden.operations.exact_sum import ExactSum
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.conversion import converted, special_code
from mmau.prove.specification.numbers import Flag, Number, all_of, any_of, choose
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import OnceRounded, Rounding, Underflow, with_sign_of_zero
from mmau.prove.specification.step_results import Aligned, Code, Exponent, Operand, Result, Special, Term, Total
from mmau.prove.specification.steps import (
    Subnormals,
    accumulate,
    addend,
    align,
    align_lost,
    combine,
    decode,
    max_exp,
    multiply,
    no,
    scaled_product,
    scaled_special,
)


def element(terms: Terms, vector: Bits, k: int, width: int) -> Bits:
    """Element k of a vector."""
    return terms.part(vector, (k + 1) * width - 1, k * width)


def decoded(
    terms: Terms, observer: Observer, name: str, vector: Bits, fmt: Format, count: int, subnormals: Subnormals = "kept"
) -> list[Operand]:
    """The elements of a vector."""
    codes = [element(terms, vector, k, fmt.width) for k in range(count)]
    return [observer.value(f"decode_{name}_{k}", decode(terms, fmt, code, subnormals)) for k, code in enumerate(codes)]


@dataclass(frozen=True)
class Decoded:
    """The decoded operands of a step."""

    x: list[Operand]
    y: list[Operand]
    z: Operand
    alpha: list[Operand]
    beta: list[Operand]

    def scales(self, block: int) -> list[Operand]:
        """The scales of a block: two, or one where the operation has them on one side."""
        return [scales[block] for scales in (self.alpha, self.beta) if scales]


def subnormals_of(operation: FusedOperation) -> Subnormals:
    """How subnormal elements of a, b and c are read; scales are never flushed."""
    return "±0" if operation.flush_inputs else "kept"


def decoded_operands(terms: Terms, operation: FusedOperation, ports: Mapping[str, Bits], observer: Observer) -> Decoded:
    """Step decode."""
    subnormals = subnormals_of(operation)
    x = decoded(terms, observer, "x", ports["a"], operation.a, operation.length, subnormals)
    y = decoded(terms, observer, "y", ports["b"], operation.b, operation.length, subnormals)
    z = observer.value("decode_z", decode(terms, operation.c, ports["c"], subnormals))
    scale, count = operation.scale_format, operation.scales_per_step
    alpha, beta = (
        decoded(terms, observer, name, ports[port], scale, count) if scale and port in operation.scale_operands else []
        for name, port in (("alpha", "scale_a"), ("beta", "scale_b"))
    )
    return Decoded(x, y, z, alpha, beta)


def products(
    operation: Operation, parts: Decoded, observer: Observer, zero_exp: int, overflow_exp: int | None = None
) -> list[tuple[Term, Special]]:
    """Step multiply of every pair; arguments as for `multiply`."""
    return [
        observer.term(f"multiply_{k}", *multiply(p, q, operation.product_frac, zero_exp, overflow_exp))
        for k, (p, q) in enumerate(zip(parts.x, parts.y, strict=True))
    ]


def t_fdpa(terms: Terms, operation: TFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """T-FDPA (golden: `TruncatedFDPA.step`): exact terms; one without a significand has exponent e_zero."""
    parts = decoded_operands(terms, operation, ports, observer)
    pairs = products(operation, parts, observer, operation.e_zero)
    pairs.append(observer.term("addend", *addend(parts.z, operation.c, operation.e_zero)))
    special = observer.value("specials", combine([s for _, s in pairs]))
    observer.when(special.finite)
    return truncated_sum(terms, operation, [t for t, _ in pairs], special, observer)


def st_fdpa(terms: Terms, operation: STFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """ST-FDPA (golden: `STFDPA.terms`): products under the scales of their block."""
    parts = decoded_operands(terms, operation, ports, observer)
    pairs = products(operation, parts, observer, operation.product_exp_min)
    c = observer.term("addend", *addend(parts.z, operation.c, operation.e_zero))
    summed = [*scaled(operation.scale, operation.K_block, parts, pairs, operation.e_zero, observer), c]
    special = observer.value("specials", combine([s for _, s in summed]))
    observer.when(special.finite)
    return truncated_sum(terms, operation, [t for t, _ in summed], special, observer)


def scaled(
    scale: Format, K_block: int, parts: Decoded, pairs: Sequence[tuple[Term, Special]], zero_exp: int, observer: Observer
) -> list[tuple[Term, Special]]:
    """Step scale: products under the scales of their block, a zero one with exponent `zero_exp`."""
    found = []
    for k, (product, special) in enumerate(pairs):
        scales = parts.scales(k // K_block)
        term = scaled_product(product, scales, scale, zero_exp)
        of_term = scaled_special(product, special, scales, scale)
        found.append(observer.term(f"scale_{k}", term, of_term, f"scale_special_{k}"))
    return found


def gst_fdpa(terms: Terms, operation: GSTFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """GST-FDPA (golden: `GSTFDPA.terms`): exact sums of groups, scaled."""
    parts = decoded_operands(terms, operation, ports, observer)
    pairs = products(operation, parts, observer, operation.product_exp_min)
    c, c_special = observer.term("addend", *addend(parts.z, operation.c, operation.e_zero))
    blocks = [k // operation.K_block for k in range(operation.L)]
    specials = [
        observer.value(f"scale_special_{k}", scaled_special(product, special, parts.scales(block), operation.scale))
        for k, ((product, special), block) in enumerate(zip(pairs, blocks, strict=True))
    ]
    special = observer.value("specials", combine([*specials, c_special]))
    observer.when(special.finite, [*parts.alpha, *parts.beta])
    summed = []
    for g, start in enumerate(range(0, operation.L, operation.G)):
        group = [term for term, _ in pairs[start : start + operation.G]]
        summed.append(scaled_group(f"{g}", group, parts.scales(blocks[start]), operation, observer))
    return truncated_sum(terms, operation, [*summed, c], special, observer)


def scaled_group(name: str, group: list[Term], scales: Sequence[Operand], operation: GSTFDPA, observer: Observer) -> Term:
    """Steps multiply and scale of one group (golden: `GSTFDPA.group_term`): its products at the largest possible exponent of
    a product, with all bits that a product can have below it."""
    highest, span = group[0].exp.high, group[0].exp.high - group[0].exp.low
    F = span + operation.product_frac
    exp = Number.constant(group[0].exp.terms, highest)
    aligned = [observer.value(f"group_{name}_align_{k}", align(term, exp, F, "RZ")) for k, term in enumerate(group)]
    total = observer.total(f"group_{name}_accumulate", aligned, accumulate(aligned))
    empty = reduce(or_, [x.zero for x in scales], all_of([term.sig.is_zero() for term in group]))
    e_zero = Number.constant(exp.terms, operation.e_zero)
    frac, sig = F - highest + len(scales) * operation.scale.man_bits, total.total * reduce(mul, [x.sig for x in scales])
    bits = total.total.bits.width + len(scales) * (operation.scale.man_bits + 1)  # of all significands
    sig = sig.loosened(0, (1 << bits) - 1)
    sign = reduce(xor, [x.sign for x in scales], total.sign) if operation.scale.signed else total.sign
    term = Term(sign, choose(empty, e_zero, reduce(add, [x.exp for x in scales])), sig, frac)
    return observer.value(f"scale_{name}", term)


def e_fdpa(terms: Terms, operation: EFDPA, ports: Mapping[str, Bits], observer: Observer, own_places: bool = False) -> Bits:
    """E-FDPA (golden: `EFDPA.step`): every term at the largest possible exponent, with all bits below it.

    Args:
        own_places: whether a term is aligned to its own largest exponent, and then put at its place in the sum, which
            changes no number.
    """
    parts = decoded_operands(terms, operation, ports, observer)
    pairs = products(operation, parts, observer, operation.product_exp_min)
    if operation.scale is not None:
        pairs = scaled(operation.scale, operation.K_block, parts, pairs, operation.scaled_exp_min, observer)
    pairs.append(observer.term("addend", *addend(parts.z, operation.c, operation.c.e_min)))
    special = observer.value("specials", combine([s for _, s in pairs]))
    observer.when(special.finite)
    underflow: Underflow = "tiny" if operation.flushes_results else "gradual"
    tininess = operation.tininess if operation.flags else None
    rounding = Rounding(operation.conversion, underflow, operation.overflow, tininess=tininess)
    has_sign = operation.zero == "ieee"
    code = observer.summed(ExactlySummed([t for t, _ in pairs], rounding, has_sign, observer, own_places))
    otherwise = special_code(special, operation.d, operation.d.nan or 0)
    if operation.flags:
        otherwise = terms.joined([terms.number(0, 3), otherwise])
    d = terms.choice(special.finite.bits, lambda: code, lambda: otherwise)
    if operation.flags:  # NV, no DZ, and those of the rounding
        vectors = ((parts.x, "a", operation.a), (parts.y, "b", operation.b), ([parts.z], "c", operation.c))
        read = [
            (part, element(terms, ports[name], k, of.width), of) for each, name, of in vectors for k, part in enumerate(each)
        ]
        is_invalid = invalid(operation, read, special, list(zip(parts.x, parts.y, strict=True)))
        d = terms.joined([is_invalid.bits, terms.number(0, 1), d])
    return observer.value("d", Result(Code(d))).code.bits


@dataclass(frozen=True)
class ExactlySummed(OnceRounded):
    """An exact sum of any number of terms, each at its place in it, rounded once.

    Attributes:
        terms: the terms. rounding: the rounding of the sum. has_sign: whether a zero has IEEE 754's sign; else it is +0.
        observer, own_places: as for `e_fdpa`.
    """

    terms: Sequence[Term]
    rounding: Rounding
    has_sign: bool
    observer: Observer
    own_places: bool

    def rounded_by(self, rounding: Rounding) -> "ExactlySummed":
        """The same sum with another rounding."""
        return replace(self, rounding=rounding)

    def signed(self, total: Total) -> Total:
        """A total with the sign that an exact zero has."""
        return with_sign_of_zero(total, self.terms, self.rounding.rho.mode) if self.has_sign else total

    def code(self) -> Bits:
        """The rounded sum if it is finite."""
        mode = self.rounding.rho.mode if self.has_sign else None
        return self.rounding.code(*exact_total("sum", self.terms, mode, self.observer, self.own_places))


def invalid(
    operation: ExactSum,
    read: Sequence[tuple[Operand, Bits, Format]],
    special: Special,
    factors: Sequence[tuple[Operand, Operand]],
) -> Flag:
    """The flag NV (golden: `ExactSum._is_invalid`).

    Args:
        read: the operands with their codes and formats. factors: the pairs that are multiplied.
    """
    terms = special.nan.terms
    found = special.nan & ~any_of([part.nan for part, _, _ in read])
    for part, code, of in read:
        if of.specials == "ieee":
            place = of.pad_bits + of.man_bits - 1
            found = found | (part.nan & ~Flag(terms, terms.part(code, place, place)))
    for x, y in factors if operation.beside_nan == "invalid" else ():
        found = found | (x.inf & y.zero) | (x.zero & y.inf)
    return found


def exact_total(
    name: str, summed: Sequence[Term], mode: str | None, observer: Observer, own_places: bool = False
) -> tuple[Total, Number]:
    """Steps align and accumulate of an exact sum: every term at the largest possible exponent, with all bits below it; and
    the exponent of the sum's last bit.

    Args:
        name: what the observer calls the sum. mode: of rounding, where a zero has IEEE 754's sign; None where it is +0.
            own_places: as for `e_fdpa`.
    """
    terms = summed[0].exp.terms
    highest, lowest_bit = max(t.exp.high for t in summed), min(t.exp.low - t.frac for t in summed)
    aligned = []
    for k, term in enumerate(summed):
        top, low = (term.exp.high, term.exp.low - term.frac) if own_places else (highest, lowest_bit)
        own = observer.value(f"{name}_align_{k}", align(term, Number.constant(terms, top), top - low, "RZ"))
        aligned.append(Aligned(own.sign, own.aligned.times_two_to(low - lowest_bit)))
    total = observer.total(f"{name}_accumulate", aligned, accumulate(aligned))
    if mode is not None:
        total = with_sign_of_zero(total, summed, mode)
    return total, Number.constant(terms, lowest_bit)


def truncated_sum(terms: Terms, operation: TruncatedFDPA, summed: list[Term], special: Special, observer: Observer) -> Bits:
    """Steps 2 to 4 of T-FDPA."""
    # 1. the largest exponent
    largest = observer.value("sum_max_exp", max_exp(summed))
    # 2. align each term, add exactly
    if operation.sticky:
        total, lost, lsb = sticky_total(summed, largest, operation, observer)
    else:
        aligned = [
            observer.value(f"sum_align_{k}", align(term, largest.e_max, operation.F, operation.truncation))
            for k, term in enumerate(summed)
        ]
        total = observer.total("sum_accumulate", aligned, accumulate(aligned))
        lost, lsb = no(terms), largest.e_max - operation.F
    # 3. convert; a zero of either sign becomes +0
    code = converted(
        total, lsb, operation.conversion, operation.overflow, operation.flushes_results, canonical=True, lost=lost
    )
    otherwise = special_code(special, operation.d, nvidia_nan(operation.d))
    d = terms.choice(special.finite.bits, lambda: code, lambda: otherwise)
    return observer.value("d", Result(Code(d))).code.bits


def sticky_total(
    summed: list[Term], largest: Exponent, operation: TruncatedFDPA, observer: Observer
) -> tuple[Total, Flag, Number]:
    """Steps align and accumulate with a sticky bit for ρ: the sum, whether nonzero bits were lost below it, and the exponent
    of its last bit (golden: `steps.add_sticky`).

    The bits that RZ drops lie below the magnitude. The bits that RD drops are positive: if there are any, half of the sum's
    last place is added to the terms, and a negative sum is followed by ones in all positions.
    """
    F, mode = operation.F, operation.truncation
    aligned = [observer.value(f"sum_align_{k}", align_lost(term, largest.e_max, F, mode)) for k, term in enumerate(summed)]
    lost = any_of([term.lost for term in aligned])
    if mode == "RZ":
        total = observer.total("sum_accumulate", aligned, accumulate(aligned))
        return total, lost & (total.sign | ~total.total.is_zero()), largest.e_max - F
    zero, one = Number.constant(lost.terms, 0), Number.constant(lost.terms, 1)
    halves = [Aligned(term.sign, term.aligned.times_two_to(1)) for term in aligned]
    halves.append(Aligned(no(lost.terms), choose(lost, one, zero)))
    total = observer.total("sum_accumulate", halves, accumulate(halves))
    magnitude, below = total.total.shifted_right(1), operation.conversion.rounding_format.man_bits + 2
    ones = choose(lost & total.sign, Number.constant(lost.terms, (1 << below) - 1), zero)
    is_more = lost & (total.sign | ~magnitude.is_zero())
    return Total(total.sign, magnitude.times_two_to(below) + ones), is_more, largest.e_max - (F + below)
