"""The twin of the table [sums]: a dot product as a program of sums, each rounded, on exact rationals.

Written from numerics.md, section 13. Of golden/ it sees the attributes of parameter objects alone. It has no sorted and no
compensated trees.
"""

from collections.abc import Sequence
from typing import Any

from tests.twin.rational import Fraction
from tests.twin.twin import cut, special_code, special_sum, times, zero_code
from tests.twin.twin_numbers import LAYOUTS, Layout, Number, decode, encode, infinity_code, two_to

ZERO = Number("finite", False, Fraction(0), 0)


def dot(
    table: Any,
    operation: Any,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> int:
    """The code of d, which holds the last sum or is RNE of it."""
    d, start = operation.d.name, decode(operation.c.name, c)
    x, y = ([decode(form.name, code) for code in codes] for form, codes in ((operation.a, a), (operation.b, b)))
    products = [times(*pair) for pair in zip(x, y, strict=True)]
    if table.product != "exact":
        products = [rounded(table.product, [product]) for product in products]
    total = whole(table, products, start, scales_of_groups(table, operation, len(a), scale_a, scale_b))
    if total.kind != "finite":
        return special_code(d, total, infinity_code(d, False) + 2 ** (LAYOUTS[d].mantissa_bits - 1))
    return encode(d, total.value, "RNE") if total.significand else zero_code(d, total.negative)


def scales_of_groups(
    table: Any, operation: Any, K: int, scale_a: Sequence[int], scale_b: Sequence[int]
) -> list[list[Number]]:
    """The scales of each group, in the format of the node that multiplies them, to which they round to nearest even."""
    if table.scaled is None:
        return [[] for _ in range(0, K, table.group or K)]
    to_nearest = "RNE-" + table.scaled.partition("-")[2]
    sides = [scale_a] * (operation.scales in ("both", "a")) + [scale_b] * (operation.scales in ("both", "b"))
    blocks = [start // operation.K_block for start in range(0, K, table.group)]
    return [[rounded(to_nearest, [decode(operation.scale.name, codes[n])]) for codes in sides] for n in blocks]


def whole(table: Any, products: list[Number], c: Number, scales: list[list[Number]]) -> Number:
    """The sum of everything; `scales`: those of each group."""
    if not isinstance(table.tree, str):
        return of_places(table, table.tree, products, c)
    if not table.group and table.c != "last":
        return of_group(table, [c, *products] if table.c == "first" else [*products, c])
    groups = [products[k : k + table.group] for k in range(0, len(products), table.group)] if table.group else [products]
    sums = [under(table, of_group(table, group), own) for group, own in zip(groups, scales, strict=True)]
    return in_order(table.outer, [*sums, c] if table.c == "last" else [c, *sums])


def of_places(table: Any, tree: Any, products: list[Number], c: Number) -> Number:
    """A node of nested arrays: the sum of its members."""
    if isinstance(tree, str):
        return {"c": c, "0": ZERO}.get(tree) or products[int(tree[1:])]
    return rounded(table.node, [of_places(table, member, products, c) for member in tree], table if len(tree) > 2 else None)


def of_group(table: Any, terms: list[Number]) -> Number:
    """The terms under a tree that has a name."""
    if table.tree == "exact" or len(terms) == 1:
        return rounded(table.node, terms, table)
    if table.tree == "in-order":
        return in_order(table.node, terms)
    if table.tree not in ("pairwise", "halves"):
        raise ValueError(f"the twin has no tree {table.tree}")
    while len(terms) > 1:
        half = len(terms) // 2
        apart = half if table.tree == "halves" else 1
        first = range(half) if table.tree == "halves" else range(0, 2 * half, 2)
        terms = [rounded(table.node, [terms[k], terms[k + apart]]) for k in first] + terms[2 * half :]
    return terms[0]


def under(table: Any, total: Number, scales: list[Number]) -> Number:
    """A group's sum under its scales: their product is rounded, and then the product with the sum."""
    if not scales:
        return total
    factor = scales[0] if len(scales) == 1 else rounded(table.scaled, [times(*scales)])
    return rounded(table.scaled, [times(factor, total)])


def in_order(node: str, terms: Sequence[Number]) -> Number:
    total = terms[0]
    for term in terms[1:]:
        total = rounded(node, [total, term])
    return total


def rounded(node: str, terms: Sequence[Number], align: Any = None) -> Number:
    """The sum of the terms, rounded as a node says; `align`: the table, whose F, if any, cuts the terms first."""
    mode, _, fields = node.partition("-")
    name = f"node {fields}"
    exp_bits, _, man_bits = fields.removeprefix("e").partition("m")
    LAYOUTS.setdefault(name, Layout(int(exp_bits), int(man_bits), 2 ** (int(exp_bits) - 1) - 1, "ieee"))
    if special := special_sum(terms):
        return special
    if align is not None and align.F is not None:
        at = [term.exponent if term.significand else align.e_zero for term in terms]
        lsb = max(at) - align.F
        cuts = (cut(term.significand, e - lsb, align.truncation) for term, e in zip(terms, at, strict=True))
        total, is_negative = sum(cuts) * two_to(lsb), False
    else:
        total = sum((term.value for term in terms), Fraction(0))
        negative = [term.negative for term in terms]
        is_negative = any(negative) if mode == "RD" else all(negative)
    return decode(name, encode(name, total, mode, "by-mode") if total else zero_code(name, is_negative))
