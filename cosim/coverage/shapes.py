"""The sums of a step with the ranges of their terms, in the order of its records (golden/native/include/mmau.h), from the
operation's structure; and its roundings, with the range of the sums that they round."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from golden import Operation
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.rounding import Mode
from golden.operations.structure import Addend, Element, Node, Partial, Product, Structure, Sum, Summand, Zero
from golden.operations.tr_fdpa import NO_PRODUCT_EXP

WITHOUT_END = 1 << 14
"""A width larger than that of any sum (bits), because a sticky bit may represent an amount arbitrarily far below."""


@dataclass(frozen=True)
class Kind:
    """Terms of one kind in a sum.

    Attributes:
        name, plural: names of the kind. count: number of terms.
        lowest, highest: range of the exponent of a term that is not zero (exponent values).
        frac: number of fraction bits of its significand at its exponent.
        fraction_bits: fraction bits that alignment retains at e_max; None if it retains all.
        lead: how far a leading one may lie above the exponent (bits).
        least_bits: bits of the smallest significand at the lowest exponent. higher_bits: the same at higher exponents.
        zeros: the least and the largest exponent of a zero term; None where the exponent of a zero has no effect.
    """

    name: str
    plural: str
    count: int
    lowest: int
    highest: int
    frac: int
    fraction_bits: int | None
    lead: int
    least_bits: int = 1
    higher_bits: int = 1
    zeros: tuple[int, int] | None = None


@dataclass(frozen=True)
class SumShape:
    """A sum of a step, or several equal ones.

    Attributes:
        name: name of the sum. sums: indices of the records of the sums. terms: index of the first term of each.
        kinds: the kinds of terms in order, c separate from the others.
        e_zero: exponent value of every zero term, None if zero terms have another exponent.
        inverted: whether a term may be inverted where another sum negates it, which adds a unit of the last place.
        scaled: whether the records have the sum multiplied by the scales' significands.
    """

    name: str
    sums: tuple[int, ...]
    terms: tuple[int, ...]
    kinds: tuple[Kind, ...]
    e_zero: int | None = None
    inverted: bool = False
    scaled: bool = False

    @property
    def count(self) -> int:
        """The number of terms of one sum."""
        return sum(kind.count for kind in self.kinds)

    @property
    def is_exact(self) -> bool:
        """Whether the sum is exact: alignment cuts no bits."""
        return all(kind.fraction_bits is None for kind in self.kinds)


def flushes(operation: Operation, operand: Format) -> bool:
    """Return whether the operation reads subnormals of an operand's format as zeros."""
    return operand in operation.structure.flushed


def product_of(operation: Operation, count: int, scaled: bool = False, summand: Summand | None = None) -> Kind:
    """The products of an operation as `count` terms, with headroom, and with scales where these are factors of products."""
    a, b, structure = operation.a, operation.b, operation.structure
    h = structure.headroom or 0
    flush = flushes(operation, a) and flushes(operation, b)
    lowest, highest, frac = a.e_min + b.e_min, a.e_max + b.e_max, a.man_bits + b.man_bits
    least_bits, higher_bits = (frac + 1, frac + 1) if flush else (1, min(a.man_bits, b.man_bits) + 1)
    if structure.widened is not None and not flush:  # subnormals are normal numbers there
        lowest -= frac
    scale, lead = operation.scale_format, 1 - h
    if scaled and scale is not None:
        count_of_scales = len(operation.scale_operands)
        lowest, highest = lowest + count_of_scales * scale.e_min, highest + count_of_scales * scale.e_max
        frac += count_of_scales * scale.man_bits
        lead += count_of_scales if scale.man_bits else 0
        higher_bits = least_bits
    zero = None if summand is None else summand.zero_exp
    return Kind(
        "product", "products", count, lowest + h, highest + h, frac + h, None if summand is None else summand.F, lead,
        least_bits, higher_bits, None if zero is None else (zero, zero),
    )  # fmt: skip


def c_of(operation: Operation, chained: bool, summand: Summand | None = None) -> Kind:
    """The accumulator as a term. In a chain it can also be the d of a step."""
    c, summand = operation.c, summand or Summand(Addend())
    zeros = (summand.zero_exp, summand.zero_exp) if summand.zero_exp is not None else None
    bits = c.man_bits + 1
    least_bits = bits if flushes(operation, c) else 1
    name = summand.node.kind if isinstance(summand.node, Addend) else "c"
    of_c = Kind(name, f"{name}s", 1, c.e_min, c.e_max, c.man_bits, summand.F, 0, least_bits, bits, zeros)
    if not chained or operation.c is operation.d:
        return of_c
    d = operation.d
    # Of two formats one has its subnormal numbers above the lowest exponent of the other.
    subnormal_above = c.e_min != d.e_min and not flushes(operation, c)
    return replace(
        of_c, lowest=min(c.e_min, d.e_min), highest=max(c.e_max, d.e_max), frac=max(c.man_bits, d.man_bits), least_bits=1,
        higher_bits=1 if subnormal_above else min(c.man_bits, d.man_bits) + 1,
    )  # fmt: skip


def element_of(operation: Operation, node: Element) -> Kind:
    """An element of a or b as a term by itself."""
    operand = operation.a if node.operand == "a" else operation.b
    bits = operand.man_bits + 1
    least_bits = bits if flushes(operation, operand) else 1
    return Kind(
        node.operand, f"{node.operand}s", 1, operand.e_min, operand.e_max, operand.man_bits, None, 0, least_bits, bits
    )  # fmt: skip


def sums_of(operation: Operation, chained: bool) -> tuple[SumShape, ...]:
    """The shapes of the sums of a step. The sum with c is the last. Equal sums share the shape of the last of them.

    Args:
        chained: whether c is the d of another step in some steps.
    """
    structure = operation.structure
    scaled = {structure.sums[node.of].alike for node in structure.last.nodes if isinstance(node, Partial) and node.scaled}
    shapes: dict[str, SumShape] = {}
    term = number = 0
    for each in structure.sums:
        if len(each.nodes) == 1 and isinstance(each.nodes[0], Partial):
            continue  # the total of one sum alone, of which there is no record
        if not any(isinstance(node, Zero) for node in each.nodes):
            before = shapes.get(each.alike)
            sums, terms = ((), ()) if before is None else (before.sums, before.terms)
            kinds = tuple(_kinds_of(operation, each, chained))
            shapes[each.alike] = SumShape(
                each.alike, (*sums, number), (*terms, term), kinds, each.floor, each.in_frame, each.alike in scaled
            )
        number, term = number + 1, term + len(each.terms)
    return tuple(shapes.values())


def _kinds_of(operation: Operation, of: Sum, chained: bool) -> list[Kind]:
    """The terms of a sum, neighbours of one kind together."""
    kinds = []
    for _, alike in groupby(of.terms, lambda each: _name_of(each.node)):
        summands = list(alike)
        first, count = summands[0], len(summands)
        match first.node:
            case Addend():
                kinds.append(c_of(operation, chained, first))
            case Element():
                kinds.append(element_of(operation, first.node))
            case Product(rounding=None):
                kinds.append(product_of(operation, count, first.node.scaled, first))
            case _:
                kinds.append(_total(operation, first, count))
    return kinds


def _name_of(node: Node) -> tuple[str, str]:
    match node:
        case Product(rounding=None):
            return "product", "products"
        case Product():
            return "addend", "addends"
        case Partial():
            return node.kind, node.kinds
        case Element():
            return node.operand, f"{node.operand}s"
        case _:
            return "c", "c"


def _total(operation: Operation, summand: Summand, count: int) -> Kind:
    """Totals of earlier sums as terms of one sum, or products that are rounded before they are added."""
    structure, node = operation.structure, summand.node
    name, plural = _name_of(node)
    if isinstance(node, Product):
        return _rounded(operation, name, plural, count, (node.k,), operation.d.man_bits)
    assert isinstance(node, Partial)
    of, leaves = structure.sums[node.of], structure.leaves[node.of]
    product = product_of(operation, len(leaves))
    lead = product.lead + 1 + (len(leaves) - 1).bit_length()  # rounding down may carry
    if of.rounding is not None:
        if _has_c(structure, node.of):
            to = of.rounding.to
            return Kind(name, plural, count, to.e_min, to.e_max, to.man_bits, None, 0)
        whole = any(isinstance(each, Zero) for each in of.nodes)  # a product by itself, normalised
        return _rounded(operation, name, plural, count, leaves, product.frac + 1 if whole else of.rounding.to.man_bits)
    if node.scaled:  # with the exponent of its scales
        scale = operation.scale_format
        assert scale is not None
        scales = len(operation.scale_operands)
        low, high, own = scales * scale.e_min, scales * scale.e_max, len(leaves) > 1
        frac = product.frac - product.lowest + scales * scale.man_bits
        lead += product.highest + (scales if scale.man_bits else 0)
    else:
        F = of.terms[0].F
        assert F is not None
        # A sum is zero where products cancel, or where the fraction bits hold nothing of one that has a small significand.
        low, high, own = product.lowest, product.highest, len(leaves) > 1 or product.frac - F >= product.least_bits
        # Rounded down, a product that lies wholly below the last place kept becomes a unit of it.
        frac, lead = F, max(lead, (len(leaves) - 1).bit_length() - F)
    zero = of.terms[0].zero_exp if summand.zero_exp is None else summand.zero_exp
    zero = NO_PRODUCT_EXP if zero is None else zero
    zeros = (min(zero, low), max(zero, high)) if own else (zero, zero)
    return Kind(name, plural, count, low, high, frac, summand.F, lead, zeros=zeros)


def _rounded(operation: Operation, name: str, plural: str, count: int, leaves: Sequence[int], frac: int) -> Kind:
    """Rounded sums of products: they can cancel down to the last bit of a product, but not below the normal numbers."""
    product, d = product_of(operation, 1), operation.d
    alone = len(leaves) == 1
    lowest = max(product.lowest if alone else product.lowest - product.frac, d.e_min)
    highest = min(product.highest + 1 + (len(leaves) - 1).bit_length(), d.e_max)
    return Kind(name, plural, count, lowest, highest, frac, None, 0, d.man_bits + 1)


def _has_c(structure: Structure, number: int) -> bool:
    """Whether c is in a total, by itself or through an earlier one."""
    of = structure.sums[number]
    return of.has_c or any(isinstance(node, Partial) and _has_c(structure, node.of) for node in of.nodes)


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
        exact = sum((largest_finite(getattr(operation, name)) for name in operation.operands), Fraction(0))
    else:
        exact = _largest_products(operation)
    if "c" in operation.operands:
        exact += max(largest_finite(each) for each in ((operation.c, operation.d) if chained else (operation.c,)))
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
    largest = largest_finite(operation.a) * largest_finite(operation.b) * operation.length
    scale = operation.scale_format
    return largest if scale is None else largest * largest_finite(scale) ** len(operation.scale_operands)


def largest_finite(operand: Format) -> Fraction:
    """Value of the largest finite number of a format."""
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
    largest = products + largest_finite(d)
    return (*shapes, shape("result", range(2 * P - 1, 2 * P), finest, d.e_max + 1 - finest - d.man_bits, largest))


def _of_multiply_adds(operation: Operation) -> tuple[RoundingShape, ...]:
    """Chains of multiply-adds. One from c: all but the last together, and the last. Two: the first products of both chains,
    which are added to +0; the others; the sum of the chains; the result."""
    a, L, width = operation.a, operation.length, FP32.man_bits + 1
    products = _largest_products(operation)
    c = largest_finite(FP32)
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
