"""The sums of a step with the ranges of their terms, in the order of its records (golden/native/include/mmau.h), from the
operation's structure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from golden import Operation
from golden.arithmetic.formats import Format
from golden.operations.structure import Addend, Element, Node, Partial, Product, Structure, Sum, Summand, Zero
from golden.operations.tr_fdpa import NO_PRODUCT_EXP


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
    scale = operation.scale_format
    if scaled and scale is not None:
        lowest, highest, frac = lowest + 2 * scale.e_min, highest + 2 * scale.e_max, frac + 2 * scale.man_bits
        higher_bits = least_bits
    zero = None if summand is None else summand.zero_exp
    return Kind(
        "product", "products", count, lowest + h, highest + h, frac + h, None if summand is None else summand.F, 1 - h,
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
        low, high, own = 2 * scale.e_min, 2 * scale.e_max, len(leaves) > 1
        frac = product.frac - product.lowest + 2 * scale.man_bits
        lead += product.highest + (2 if scale.man_bits else 0)
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
