"""The roundings of a step of each operation, and the range of the sums that they round."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cosim.coverage.shapes import Kind, SumShape, c_of, product_of, sums_of
from golden import Operation
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.rounding import Mode

WITHOUT_END = 1 << 14
"""A width larger than that of any sum (bits), because a sticky bit may represent an amount arbitrarily far below."""


@dataclass(frozen=True)
class RoundingShape:
    """A rounding of a step, or several equal ones.

    Attributes:
        name: the value that is rounded. roundings: indices of their records. mode: rounding mode.
        to: the result format, None for a truncation.
        flushes: whether subnormal results become zero. rounds_first: whether they are rounded to a subnormal first.
        finest: exponent value of the lowest possible bit of the rounded value.
        cut, cut_of_normal: the most bits that can lie below the last one kept, of any result and of a normal one; negative
            where what is rounded has fewer bits than are kept.
        largest: bounds on the magnitude of positive and of negative sums.
    """

    name: str
    roundings: tuple[int, ...]
    mode: Mode
    to: Format | None
    flushes: bool
    rounds_first: bool
    finest: int
    cut: int
    cut_of_normal: int
    largest: tuple[Fraction, Fraction]


def roundings_of(operation: Operation, chained: bool) -> tuple[RoundingShape, ...]:
    """The roundings of a step; the one that gives d is the last.

    Args:
        chained: whether c is the d of another step, in some of the steps.
    """
    structure = operation.structure
    if structure.rounds_products:
        return _of_additions(operation)
    if structure.rho is None:
        return _of_multiply_adds(operation)
    rounding, largest = structure.last.rounding, _largest(operation, chained)
    assert rounding is not None
    own = _own_finest(operation, chained)
    to, width = rounding.to, _width(operation, chained, own)

    def result(number: int, finest: int, width: int) -> RoundingShape:
        normal = width - to.man_bits
        cut = max(normal, to.e_min - to.man_bits - finest)
        return RoundingShape(
            rounding.of, (number,), rounding.mode, to, rounding.flushes, False, finest, cut, normal, largest
        )

    if structure.last.cut is not None:
        F2, mode = structure.last.cut.F, structure.last.cut.truncation
        truncated = RoundingShape("truncation", (0,), mode, None, False, False, own, width - F2, 0, largest)
        return truncated, result(1, max(own, operation.c.e_min - F2), min(width, F2))
    if structure.sticky:
        return (result(0, own - WITHOUT_END, width + WITHOUT_END),)
    return (result(0, own, width),)


def _own_finest(operation: Operation, chained: bool) -> int:
    """The exponent value of the lowest possible bit of a sum."""
    *_, last = sums_of(operation, chained)
    of = operation.structure.last
    if of.is_exact:
        return min(kind.lowest - kind.frac for kind in last.kinds)
    if of.floor is None:
        product, c = _products(operation), c_of(operation, chained)
        return min(product.lowest - product.frac, c.lowest - c.frac)
    F = of.terms[-1].F
    assert F is not None
    # e_max is no lower than every term that is not zero, nor than e_zero where one is.
    lowest, highest = sorted(kind.lowest for kind in last.kinds)
    if of.in_frame:
        return min(of.floor, highest) - F  # a zero of the other sign has a one there, even where all terms are zero
    e_max = min(max(of.floor, lowest), highest)
    return max(min(kind.lowest - kind.frac for kind in last.kinds), e_max - F)


def _products(operation: Operation) -> Kind:
    """The products of a step, scales included."""
    return product_of(operation, operation.length, scaled=operation.scale_format is not None)


def _width(operation: Operation, chained: bool, finest: int) -> int:
    """Bits between the leading one of the largest sum and the last bit of the finest."""
    *_, last = sums_of(operation, chained)
    carries = (last.count - 1).bit_length()
    width = max(kind.highest + kind.lead for kind in last.kinds) + carries - finest
    if last.is_exact:
        return width
    return min(width, max((kind.fraction_bits or 0) + kind.lead for kind in last.kinds) + carries)


def _largest(operation: Operation, chained: bool) -> tuple[Fraction, Fraction]:
    """Upper bounds of the magnitude of a positive and of a negative sum."""
    of = operation.structure.last
    if operation.structure.adds_elements:
        exact = sum((_largest_finite(getattr(operation, name)) for name in operation.operands), Fraction(0))
    else:
        exact = _largest_products(operation)
    if "c" in operation.operands:
        exact += max(_largest_finite(each) for each in ((operation.c, operation.d) if chained else (operation.c,)))
    if of.in_frame:  # of every product that is inverted, zeros among them
        *_, last = sums_of(operation, chained)
        highest = max(max(kind.highest, *(kind.zeros or ())) for kind in last.kinds)
        exact += operation.length * power_of_two(highest - (of.terms[-1].F or 0))
    if of.truncation in (None, "RZ"):
        return exact, exact
    # RD and RO may add a unit of the last place that alignment keeps, to every term that loses bits, a truncation one more.
    more = sum((_added(each, kind) for each in sums_of(operation, chained) for kind in each.kinds), Fraction(0))
    if of.cut is not None:
        more += power_of_two(operation.c.e_max + 1 - of.cut.F)
    return exact + (more if of.truncation == "RO" else 0), exact + more


def _added(shape: SumShape, kind: Kind) -> Fraction:
    """The most that alignment can add to the terms of a kind: a unit in the last place for each term that loses bits."""
    if kind.fraction_bits is None:
        return Fraction(0)
    below_itself = kind.count > 1 or kind.frac > kind.fraction_bits
    above = [each.highest for each in shape.kinds if each is not kind or below_itself]
    zeros = [each.zeros[1] for each in shape.kinds if each.zeros is not None]
    return kind.count * power_of_two(max(above + zeros) - kind.fraction_bits) if above + zeros else Fraction(0)


def _largest_products(operation: Operation) -> Fraction:
    """The sum of all products at their largest value."""
    largest = _largest_finite(operation.a) * _largest_finite(operation.b) * operation.length
    return largest if operation.scale_format is None else largest * _largest_finite(operation.scale_format) ** 2


def _largest_finite(operand: Format) -> Fraction:
    value = operand.value(operand.max_finite)
    assert value is not None
    return Fraction(value)


def _of_additions(operation: Operation) -> tuple[RoundingShape, ...]:
    """Rounded products in pairs: each product, each sum of products, the sum with c."""
    P, a, b, d, product = operation.length, operation.a, operation.b, operation.d, _products(operation)
    last, levels = d.e_min - d.man_bits, (P - 1).bit_length()
    of_products = product.lowest - product.frac
    products = _largest_products(operation)
    kept = max(of_products, last)

    def shape(name: str, roundings: range, finest: int, normal: int, largest: Fraction) -> RoundingShape:
        cut = max(normal, last - finest)
        return RoundingShape(name, tuple(roundings), "RNE", d, True, True, finest, cut, normal, (largest, largest))

    shapes = [shape("product", range(P), of_products, a.man_bits + b.man_bits + 1 - d.man_bits, products / P)]
    if P > 1:
        width = min(product.highest + 1 + levels, d.e_max + 1) - kept
        shapes.append(shape("sum of products", range(P, 2 * P - 1), kept, width - d.man_bits, products))
    # The difference of c and a cancelling sum of products has no bit below their last ones.
    finest = max(kept - d.man_bits, last)
    largest = products + _largest_finite(d)
    return (*shapes, shape("result", range(2 * P - 1, 2 * P), finest, d.e_max + 1 - finest - d.man_bits, largest))


def _of_multiply_adds(operation: Operation) -> tuple[RoundingShape, ...]:
    """Chains of multiply-adds. One from c: all but the last together, and the last. Two: the first products of both chains,
    which are added to +0; the others; the sum of the chains; the result."""
    a, L, width = operation.a, operation.length, FP32.man_bits + 1
    products = _largest_products(operation)
    c = _largest_finite(FP32)
    bits, of_products = 2 * (a.man_bits + 1), 2 * (a.e_min - a.man_bits)
    # The difference of a product and a cancelling fp32 number has no bit below that number's last one.
    left = max(of_products - width, FP32.e_min - FP32.man_bits)
    apart = 2 * a.e_max - of_products - width

    def shape(name: str, places: Sequence[int], finest: int, cut: int, largest: Fraction) -> RoundingShape:
        return RoundingShape(name, tuple(places), "RNE", FP32, True, False, finest, cut, cut, (largest, largest))

    if not operation.structure.begins_with_zero:
        finest = min(left, of_products) if of_products < FP32.e_min else left
        result = shape("result", (L - 1,), finest, apart, products + c)
        return (result,) if L == 1 else (shape("multiply-add", range(L - 1), finest, apart, products + c), result)
    first = shape("first products", (0, 1), of_products, bits - width, products / L)
    chain = shape("multiply-add", range(2, L), of_products, apart, products / 2)
    of_chains = max(of_products, FP32.e_min - FP32.man_bits)
    both = shape("even and odd", (L,), of_chains, apart, min(products, 2 * c))
    result = shape("result", (L + 1,), left, apart, min(products, c) + c)
    return (first, both, result) if L == 2 else (first, chain, both, result)
