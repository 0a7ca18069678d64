"""FMA as a term of its operands (golden/operations/fma.py)."""

from collections.abc import Mapping, Sequence

from golden.arithmetic.formats import Format
from golden.arithmetic.specials import invalid_nan
from golden.operations import FMA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import decoded_operands, products
from mmau.prove.specification.numbers import Flag
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import RoundedSum, Rounding, Underflow, lifted
from mmau.prove.specification.step_results import Code, Result, Special, Term
from mmau.prove.specification.steps import addend, combine, max_exp

LIFT = 4
"""Least distance of the common exponent above a product's exponent, in addition to man_bits. It changes no number; datapaths
use it so that a product is not shifted unless the other term is far above it."""


def fma(terms: Terms, operation: FMA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """FMA (golden: `FMA.step`): the product and c added exactly, and rounded once."""
    parts, d = decoded_operands(terms, operation, ports, observer), operation.d
    # 1. exact terms
    ((product, p_special),) = products(operation, parts, observer, operation.product_exp_min)
    c, c_special = observer.term("addend", *addend(parts.z, operation.c, operation.c.e_min))
    pairs = [(lifted(product, d.man_bits + LIFT), p_special), (c, c_special)]
    # 2. added, rounded
    underflow: Underflow = "tiny" if operation.flush_results else "gradual"
    rounding = Rounding(operation.conversion, underflow, operation.overflow)
    code, special = rounded_sum("sum", pairs, rounding, "specials", observer)
    # 3. the NaN that is written
    if operation.nan == "first":
        nans = [(part.nan, ports[name]) for part, name in ((parts.x[0], "a"), (parts.y[0], "b"), (parts.z, "c"))]
        nan, finite = first_nan(nans, d, terms.number(invalid_nan(d), d.width)), code
        code = terms.choice(special.nan.bits, lambda: nan, lambda: finite)
    return observer.value("d", Result(Code(code))).code.bits


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
