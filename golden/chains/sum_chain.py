"""The table `[sums]` of a unit file: a dot product as a program of additions, each rounded, of rounded or exact products.

It describes arithmetics that are no operation: sums in a tree, of sorted terms, compensated (Kahan), in two levels with
promotion, and exact groups that are cut afterwards. Values between the steps are numbers of a node's format.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, isfinite
from typing import Any, Protocol

from golden.arithmetic.formats import Cls, Format
from golden.checks import check_choice, check_least
from golden.operations import Operation

Tree = str | tuple["Tree", ...]
"""A node of a tree: the name of a place, or the tuple of its members."""

MOST_LEVELS = 200
"""Largest number of nested nodes above a place; Python's own limit on nested calls is 1,000."""


def checked_tree(tree: Any) -> tuple[Tree, ...]:
    """The tree with tuples in place of lists.

    Raises:
        ValueError: it is no nested arrays of places, or a place is missing or stands twice.
    """
    nodes = _as_tuples(tree, MOST_LEVELS)
    places = [place for place in places_of(nodes) if place != "0"]
    wanted = ["c", *(f"p{k}" for k in range(len(places) - 1))]
    if isinstance(nodes, str) or sorted(places) != sorted(wanted):
        twice = next((place for place in places if places.count(place) > 1), None)
        missing = next((place for place in wanted if place not in places), "c")
        found = f"{missing} is missing" if twice is None else f"{twice} stands {places.count(twice)} times"
        raise ValueError(
            f"[sums] tree must have c and each of p0, p1, … once, without a gap, and 0 wherever a sum begins at +0; {found}"
        )
    return nodes


def _as_tuples(tree: Any, levels: int) -> Tree:
    if isinstance(tree, str):
        return tree
    if not isinstance(tree, list | tuple) or not tree or not levels:
        deep = f" of at most {MOST_LEVELS} levels" if not levels else ""
        got = "" if not levels else f", got {tree!r}"
        raise ValueError(f'[sums] tree must be a name or nested arrays of "p0", "p1", …, "c" and "0"{deep}{got}')
    return tuple(_as_tuples(member, levels - 1) for member in tree)


def places_of(tree: Tree) -> Iterator[str]:
    """The places of a tree, 0 among them, from left to right."""
    if isinstance(tree, str):
        yield tree
    else:
        for member in tree:
            yield from places_of(member)


def products_of(tree: Tree) -> int:
    """K, the number of products of a tree."""
    return sum(place.startswith("p") for place in places_of(tree))


def tree_sum(
    tree: Tree, places: Mapping[str, Any], add: Callable[[Any, Any], Any], exact: Callable[[list[Any]], Any]
) -> Any:
    """Compute the root's value from the values of the places: a node of two members is their addition, any other node the
    rounded exact sum."""
    if isinstance(tree, str):
        return places[tree]
    members = [tree_sum(member, places, add, exact) for member in tree]
    return add(*members) if len(members) == 2 else exact(members)


def from_zero(tree: Tree, every: bool) -> Tree:
    """The tree with +0 put in front of products: of the first product of each node that has products alone, or of every
    product."""
    if isinstance(tree, str):
        return ("0", tree) if every and tree.startswith("p") else tree
    first = not every and all(isinstance(member, str) and member.startswith("p") for member in tree)
    members = tuple(from_zero(member, every) for member in tree)
    return (("0", tree[0]), *members[1:]) if first else members


TREES = ("in-order", "pairwise", "halves", "ascending", "descending", "compensated", "exact")
"""Trees of additions. `in-order`: in order. `pairwise`: neighbours, level by level. `halves`: k with k + n/2, level by
level. `ascending`, `descending`: sorted by magnitude, then in order. `compensated`: Kahan's sum. `exact`: all at once
without loss, rounded at the end."""

C_PLACES = ("first", "among", "last")
"""Places of c. `first`: c begins the sum. `among`: c is one of the terms, after the products. `last`: c is added to the
whole sum."""

NODE = re.compile(r"(RNE|RZ)-e(5|8)m([1-9]|1[0-9]|2[0-3])")
"""Pattern of a node's rounding and format: RNE-e8m23 is fp32, RZ-e8m13 is cut to 13 bits after the leading one."""


@dataclass(frozen=True, kw_only=True)
class SumTable:
    """How products and c are added.

    Attributes:
        tree: one of `TREES`, of the terms of a group, or a tree of places, c among them (`golden.chains.sum_chain`).
        group: products of a group; 0 is all of them.
        product: the node to which each product is rounded, or "exact".
        node: rounding and format of each addition in a group, as `NODE` spells them.
        outer: the same of the additions of groups, in order, and of a c that is added last.
        c: one of `C_PLACES`; with several groups the first and the last place are those of the outer sum.
    """

    tree: str | tuple[Tree, ...] = "in-order"
    group: int = 0
    product: str = "exact"
    node: str = "RNE-e8m23"
    outer: str = "RNE-e8m23"
    c: str = "first"

    def __post_init__(self) -> None:
        if isinstance(self.tree, str):
            check_choice("[sums] tree", self.tree, TREES)
        else:
            object.__setattr__(self, "tree", checked_tree(self.tree))
            if (self.group, self.c, self.outer) != (0, SumTable.c, SumTable.outer):
                raise ValueError("[sums] tree of places says where c is added, without groups; leave out group, c and outer")
        check_least("[sums] group", self.group, 0)
        check_choice("[sums] c", self.c, C_PLACES)
        for key in ("product", "node", "outer"):
            value = getattr(self, key)
            if (key, value) != ("product", "exact") and not (isinstance(value, str) and NODE.fullmatch(value)):
                exact = " or exact" if key == "product" else ""
                raise ValueError(f"[sums] {key} must be RNE or RZ and a format like RNE-e8m23{exact}, got {value!r}")
        if self.c == "among" and self.group:
            raise ValueError("[sums] c = among goes with one group of all products; leave out group")

    @property
    def K(self) -> int | None:
        """The number of products that a tree of places has; None for the others, which take any."""
        return None if isinstance(self.tree, str) else products_of(self.tree)

    def check_length(self, K: int) -> None:
        """Raise ValueError unless the program adds K products."""
        if (self.K or K) != K:
            raise ValueError(f"K must be {self.K}, the products of the tree of [sums], got {K}")
        if K % (self.group or 1):
            raise ValueError(f"K must be a multiple of the group of [sums], {self.group}, got {K}")

    def as_table(self) -> dict[str, Any]:
        """The keys as a unit file has them; with a tree of places only the keys that apply to it."""
        keys = dict(vars(self))
        return keys if isinstance(self.tree, str) else {key: keys[key] for key in ("tree", "product", "node")}

    @property
    def adds_outside(self) -> bool:
        """Whether anything is added outside of a group; `outer` is the rounding of those additions."""
        return bool(self.group) or self.c == "last"


@dataclass(frozen=True)
class Node:
    """A node's rounding: mode, fraction bits, smallest and largest exponent."""

    mode: str
    man_bits: int
    e_min: int
    e_max: int


@cache
def node_of(text: str) -> Node:
    """Parse a node such as RNE-e8m23 (`NODE`)."""
    found = NODE.fullmatch(text)
    assert found is not None
    e_max = (1 << int(found[2]) - 1) - 1
    return Node(found[1], int(found[3]), 1 - e_max, e_max)


class Arithmetic(Protocol):
    """Arithmetic on values as float64, one value or arrays of them, which a program of additions is made of."""

    def zero(self, like: Any) -> Any:
        """+0, as many as there are values in `like`."""

    def product(self, x: Any, y: Any, node: Node | None) -> Any:
        """x·y, exact where the node is None."""

    def add(self, x: Any, y: Any, node: Node) -> Any:
        """x + y, rounded as the node says."""

    def exact(self, terms: Sequence[Any], node: Node) -> Any:
        """The exact sum of all terms, rounded once as the node says."""

    def by_magnitude(self, terms: Sequence[Any], descending: bool) -> list[Any]:
        """The terms sorted by magnitude, row by row; of equal magnitudes the earlier comes first."""


def summed(table: SumTable, a: Sequence[Any], b: Sequence[Any], c: Any, arithmetic: Arithmetic) -> Any:
    """Compute the program of additions: from values of a, b and c to the value of the sum."""
    rounded = None if table.product == "exact" else node_of(table.product)
    node, outer = node_of(table.node), node_of(table.outer)
    terms = [arithmetic.product(x, y, rounded) for x, y in zip(a, b, strict=True)]
    if not isinstance(table.tree, str):
        places = {"0": arithmetic.zero(c), "c": c} | {f"p{k}": term for k, term in enumerate(terms)}
        add, exact = (lambda x, y: arithmetic.add(x, y, node)), (lambda members: arithmetic.exact(members, node))
        return tree_sum(table.tree, places, add, exact)
    size = table.group or len(terms)
    if size == len(terms):
        inside = {"first": [c, *terms], "among": [*terms, c], "last": terms}[table.c]
        total = _group(table.tree, inside, node, arithmetic, fixed=table.c == "first")
        return arithmetic.add(total, c, outer) if table.c == "last" else total
    groups = [_group(table.tree, terms[k : k + size], node, arithmetic) for k in range(0, len(terms), size)]
    return _in_order([*groups, c] if table.c == "last" else [c, *groups], outer, arithmetic)


def _in_order(terms: Sequence[Any], node: Node, arithmetic: Arithmetic) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = arithmetic.add(total, term, node)
    return total


def _group(tree: str, terms: list[Any], node: Node, arithmetic: Arithmetic, fixed: bool = False) -> Any:
    """The sum of a group. `fixed`: whether the first term, c, stays first where terms are sorted."""
    if len(terms) == 1 or tree == "exact":
        return arithmetic.exact(terms, node)
    if tree in ("ascending", "descending"):
        head, rest = (terms[:1], terms[1:]) if fixed else ([], terms)
        return _in_order([*head, *arithmetic.by_magnitude(rest, tree == "descending")], node, arithmetic)
    if tree == "compensated":
        return _compensated(terms, node, arithmetic)
    if tree == "in-order":
        return _in_order(terms, node, arithmetic)
    while len(terms) > 1:
        half = len(terms) // 2
        pairs = (
            zip(terms[:half], terms[half:], strict=False) if tree == "halves" else zip(terms[::2], terms[1::2], strict=False)
        )
        terms = [*(arithmetic.add(x, y, node) for x, y in pairs), *terms[2 * half :]]
    return terms[0]


def _compensated(terms: list[Any], node: Node, arithmetic: Arithmetic) -> Any:
    """Kahan's sum: each addition's error is taken from the next term."""
    total, lost = terms[0], 0.0
    for term in terms[1:]:
        corrected = arithmetic.add(term, -lost, node)
        sum_so_far = arithmetic.add(total, corrected, node)
        lost = arithmetic.add(arithmetic.add(sum_so_far, -total, node), -corrected, node)
        total = sum_so_far
    return total


Watch = Callable[[str, float, float, float], None]  # what, first operand, second operand, result of each step, for a trace


class OneRow:
    """The reference arithmetic: exact rational numbers, one row at a time."""

    def __init__(self, watch: Watch = lambda what, x, y, d: None) -> None:
        self._watch = watch

    def zero(self, like: float) -> float:
        return 0.0

    def product(self, x: float, y: float, node: Node | None) -> float:
        exact = x * y  # significands of at most 24 bits: float64 holds the product
        d = exact if node is None or not isfinite(exact) or not exact else rounded_value(Fraction(x) * Fraction(y), node)
        self._watch("product", x, y, d)
        return d

    def add(self, x: float, y: float, node: Node) -> float:
        total = Fraction(x) + Fraction(y) if isfinite(x) and isfinite(y) else None
        d = rounded_value(total, node) if total else x + y  # zeros, infinities and NaN as IEEE 754 has them
        self._watch("addition", x, y, d)
        return d

    def exact(self, terms: Sequence[float], node: Node) -> float:
        if all(map(isfinite, terms)):
            total = sum(map(Fraction, terms), Fraction(0))
            zero = -0.0 if all(str(term) == "-0.0" for term in terms) else 0.0
            d = rounded_value(total, node) if total else zero
        else:
            d = sum(terms[1:], terms[0])
        self._watch("exact sum", terms[0], terms[-1], d)
        return d

    def by_magnitude(self, terms: Sequence[float], descending: bool) -> list[float]:
        def key(term: float) -> float:
            return inf if term != term else abs(term)

        return sorted(terms, key=(lambda term: -key(term)) if descending else key)


def rounded_value(exact: Fraction, node: Node) -> float:
    """A number other than zero in a node's format."""
    size = abs(exact)
    exp = size.numerator.bit_length() - size.denominator.bit_length()
    exp -= size < Fraction(2) ** exp
    last = Fraction(2) ** (max(exp, node.e_min) - node.man_bits)
    whole = round(size / last) if node.mode == "RNE" else int(size / last)  # Python rounds ties to even
    value, largest = whole * last, (2 - Fraction(2) ** -node.man_bits) * Fraction(2) ** node.e_max
    result = float(value) if value <= largest else inf if node.mode == "RNE" else float(largest)
    return result if exact > 0 else -result


def sum_of(operation: Operation, table: SumTable, a: Sequence[int], b: Sequence[int], c: int, watch: Watch) -> int:
    """Compute d, a code, by a program of additions over K products.

    Args:
        operation: operation that names the formats and rounds the sum to d's.
        watch: called with every addition.
    """
    o = operation
    x, y = [value_of(o.a, code) for code in a], [value_of(o.b, code) for code in b]
    total = summed(table, x, y, value_of(o.c, c), OneRow(watch))
    if total != total:
        return quiet_nan_of(o.d)
    if not isfinite(total):
        return o.d.signed_infinity(int(total < 0))
    if total == 0:
        return o.d.negative_zero if str(total).startswith("-") else 0
    return o.d.encode(Fraction(total), "RNE")


def quiet_nan_of(d: Format) -> int:
    """The NaN of a result, in whose place any NaN is right."""
    assert d.nan is not None
    return d.nan


def value_of(operand: Format, code: int) -> float:
    """The value of a code as float64, which holds those of all formats of up to 32 bits."""
    sign, _, _, cls = operand.decode(code)
    if cls is Cls.NAN:
        return float("nan")
    if cls is Cls.INFINITY:
        return -inf if sign else inf
    value = operand.value(code)
    assert value is not None
    return -0.0 if sign and not value else float(value)


def check_sums(operation: Operation) -> None:
    """Raise ValueError unless a unit with a table [sums] has an operation that names formats and nothing else."""
    plain = operation.structure.is_exact and operation.length == 1 and operation.d.width <= 32
    if not plain or set(operation.parameters()) - {"a", "b", "c", "L", "rho"} or not _rounds_to_nearest(operation):
        raise ValueError(
            "[sums] goes with operation = E-FDPA with L = 1, or FMA of at most 32 bits, and a rho of RNE, which name "
            "formats and nothing else"
        )


def _rounds_to_nearest(operation: Operation) -> bool:
    return str(operation.parameters().get("rho", "RNE-")).startswith("RNE-")
