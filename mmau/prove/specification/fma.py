"""FMA, MUL, ADD and FTZ-AddMul as terms of their operands (golden/operations/fma.py, ftz_addmul.py), and what a tile of
converted operands does beside its datapaths: the conversion to fp16 and the addition of c (golden: `chain.to_fp16`,
`ieee.add`)."""

from collections.abc import Mapping, Sequence

from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.specials import invalid_nan
from golden.operations import FMA, FTZAddMul
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import decoded, decoded_operands, invalid, products, subnormals_of
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import RoundedSum, Rounding, Underflow, lifted
from mmau.prove.specification.step_results import Code, Result, Special, Term, Total
from mmau.prove.specification.steps import addend, combine, decode, max_exp, multiply

LIFT = 4
"""Least distance of the common exponent above a product's exponent, in addition to man_bits. It changes no number; datapaths
use it so that a product is not shifted unless the other term is far above it."""


def fma(terms: Terms, operation: FMA, ports: Mapping[str, Bits], observer: Observer, as_product: bool = False) -> Bits:
    """FMA, MUL and ADD (golden: `FMA.step` …): two terms added exactly, and rounded once; with flags above the code.

    Args:
        as_product: whether a of ADD has the places of a product, as many fraction bits and as low an exponent where it is 0;
            no number changes.
    """
    d = operation.d
    # 1. exact terms
    if operation.structure.last.node == "add":
        (p,) = decoded(terms, observer, "x", ports["a"], d, 1, subnormals_of(operation))
        (q,) = decoded(terms, observer, "y", ports["b"], d, 1, subnormals_of(operation))
        read = [(p, ports["a"]), (q, ports["b"])]
        x = observer.term("addend_x", *addend(p, d, operation.product_exp_min if as_product else d.e_min))
        if as_product:
            x = _at_places_of_product(operation, x[0]), x[1]
        y = observer.term("addend_y", *addend(q, d, d.e_min))
    elif "c" in operation.operands:
        parts = decoded_operands(terms, operation, ports, observer)
        read = [(parts.x[0], ports["a"]), (parts.y[0], ports["b"]), (parts.z, ports["c"])]
        (x,) = products(operation, parts, observer, operation.product_exp_min)
        y = observer.term("addend", *addend(parts.z, operation.c, operation.c.e_min))
    else:
        (p,) = decoded(terms, observer, "x", ports["a"], operation.a, 1, subnormals_of(operation))
        (q,) = decoded(terms, observer, "y", ports["b"], operation.b, 1, subnormals_of(operation))
        read = [(p, ports["a"]), (q, ports["b"])]
        x = observer.term("multiply_0", *multiply(p, q, operation.product_frac, operation.product_exp_min))
        y = no_addend(terms, operation)
    pairs = [(lifted(x[0], d.man_bits + LIFT + operation.flags), x[1]), y]
    # 2. added, rounded
    underflow: Underflow = "tiny" if operation.flushes_results else "gradual"
    tininess = operation.tininess if operation.flags else None
    rounding = Rounding(operation.conversion, underflow, operation.overflow, tininess=tininess)
    word, special = rounded_sum("sum", pairs, rounding, "specials", observer)
    code = terms.part(word, d.width - 1, 0) if operation.flags else word
    # 3. the NaN that is written
    if operation.nan != "quiet":
        nans = [(part.nan, code) for part, code in operation.in_order_of_nans(read)]
        nan, finite = first_nan(nans, d, terms.number(invalid_nan(d), d.width)), code
        code = terms.choice(special.nan.bits, lambda: nan, lambda: finite)
    # 4. flags: NV, no DZ, and those of the rounding
    if operation.flags:
        formats = (operation.a, operation.b, operation.c)
        known = [(part, code, of) for (part, code), of in zip(read, formats, strict=False)]
        factors = [] if operation.structure.adds_elements else [(read[0][0], read[1][0])]
        raised = [terms.number(0, 1), terms.part(word, d.width + 2, d.width)]
        code = terms.joined([invalid(operation, known, special, factors).bits, *raised, code])
    return observer.value("d", Result(Code(code))).code.bits


def _at_places_of_product(operation: FMA, term: Term) -> Term:
    """The same number with the fraction bits of a product, within its bounds."""
    low, high = 2 * operation.a.e_min, 2 * operation.a.e_max
    sig = term.sig.times_two_to(operation.product_frac - term.frac)
    sig = sig.loosened(0, ((2 << operation.a.man_bits) - 1) ** 2)
    return Term(term.sign, term.exp.loosened(min(low, operation.product_exp_min), high), sig, operation.product_frac)


def no_addend(terms: Terms, operation: FMA) -> tuple[Term, Special]:
    """The zero in the place of c that changes no product."""
    c, no = operation.c, Flag(terms, terms.number(0, 1))
    sign = Flag(terms, terms.number(operation.no_c >> (c.width - 1), 1))
    exp = Number.constant(terms, c.e_min).loosened(c.e_min, c.e_max)
    sig = Number.constant(terms, 0).loosened(0, (2 << c.man_bits) - 1)
    return Term(sign, exp, sig, c.man_bits), Special(no, no, no)


def rounded_sum(
    name: str, pairs: Sequence[tuple[Term, Special]], rounding: Rounding, specials: str, observer: Observer
) -> tuple[Bits, Special]:
    """The code of the sum of two terms, and its flags for results that are not finite.

    Args:
        name: the name of the sum. specials: name of the component that combines the terms' flags.
    """
    (x, x_special), (y, y_special) = pairs
    special = observer.value(specials, combine([x_special, y_special]))
    observer.only(special, pairs)
    largest = observer.value(f"{name}_max_exp", max_exp([x, y]))
    finite = observer.rounded(name, RoundedSum((x, y), (x_special, y_special), largest, rounding))
    return observer.code(f"{name}_encode", rounding.result(finite, special)), special


def first_nan(nans: Sequence[tuple[Flag, Bits]], fmt: Format, otherwise: Bits) -> Bits:
    """The first code that is NaN, made quiet (golden: `specials.first_nan`)."""
    found = otherwise
    for is_nan, code in reversed(nans):
        found = _first(is_nan, quiet(is_nan.terms, code, fmt), found)
    return found


def _first(is_nan: Flag, code: Bits, otherwise: Bits) -> Bits:
    return is_nan.terms.choice(is_nan.bits, lambda: code, lambda: otherwise)


def quiet(terms: Terms, code: Bits, fmt: Format) -> Bits:
    """A NaN with the bit set that makes it quiet, of a format without pad bits."""
    place = fmt.man_bits - 1
    parts = [terms.part(code, fmt.width - 1, place + 1), terms.number(1, 1)]
    return terms.joined([*parts, terms.part(code, place - 1, 0)] if place else parts)


TO_FP16 = Rounding(conversion("RNE-FP16"))
"""The rounding of a conversion to fp16, which rounds nothing: fp16 holds every FP8 number."""


def to_fp16(terms: Terms, source: Format, code: Bits) -> Bits:
    """An FP8 code as fp16."""
    x = decode(terms, source, code)
    finite = TO_FP16.code(Total(x.sign, x.sig), x.exp - source.man_bits)
    return TO_FP16.result(finite, Special(x.nan, x.inf & ~x.sign, x.inf & x.sign))


def addition(terms: Terms, d: Format, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """x + y, rounded once; a sum of zero is +0. Golden's is −0 where both are −0, but x, a result of T-FDPA, never is."""
    pairs = []
    for side in "xy":
        z = observer.value(f"add_decode_{side}", decode(terms, d, ports[side]))
        pairs.append(observer.term(f"add_term_{side}", *addend(z, d, d.e_min)))
    rounding = Rounding(conversion(f"RNE-{d.name.upper()}"), canonical=True)
    code, _ = rounded_sum("add", pairs, rounding, "add_specials", observer)
    return observer.value("d", Result(Code(code))).code.bits


FLUSHED = Rounding(conversion("RNE-FP32"), "subnormal")
"""The rounding of every product and every sum."""


def ftz_addmul(terms: Terms, operation: FTZAddMul, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that FTZ-AddMul gives (golden: `FTZAddMul.step`)."""
    # 1. subnormal elements become +0
    x = decoded(terms, observer, "x", ports["a"], operation.a, operation.length, "+0")
    y = decoded(terms, observer, "y", ports["b"], operation.b, operation.length, "+0")
    # 2. products, each rounded and flushed
    sums = []
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        product = multiply(p, q, operation.product_frac, operation.product_exp_min)
        term, special = observer.term(f"multiply_{k}", *product)
        finite = FLUSHED.code(Total(term.sign, term.sig), term.exp - term.frac)
        sums.append(observer.code(f"prod_{k}_encode", FLUSHED.result(finite, special)))
    # 3. pairwise sums, down to one
    level = 0
    while len(sums) > 1:
        pairs = enumerate(zip(sums[::2], sums[1::2], strict=True))
        sums = [flushed_add(terms, f"add_{level}_{k}", even, odd, observer) for k, (even, odd) in pairs]
        level += 1
    # 4. accumulate
    d = flushed_add(terms, f"add_{level}_0", ports["c"], sums[0], observer)
    return observer.value("d", Result(Code(d))).code.bits


def flushed_add(terms: Terms, name: str, x: Bits, y: Bits, observer: Observer) -> Bits:
    """FTZ-Add of two codes; only the operand c can be subnormal, and becomes +0 (golden: `ftz_addmul.flushed_add`)."""
    pairs = []
    for side, code in (("x", x), ("y", y)):
        z = observer.value(f"{name}_decode_{side}", decode(terms, FP32, code, "+0"))
        pairs.append(observer.term(f"{name}_term_{side}", *addend(z, FP32, FP32.e_min)))
    code, _ = rounded_sum(name, pairs, FLUSHED, f"{name}_specials", observer)
    return code
