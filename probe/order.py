"""The summation tree of a box from its answers alone, with no operation in mind: FPRev for nodes of any number of terms.

A large number U stands in one place, −U in another, and a small one v in all others. What meets U before U meets −U is lost;
so d / v says how many terms do not lie below the lowest node that both places have in common. Where a node adds more than
two terms at once it may lose the others too (swamped), or keep them beside U and −U (exact, as far as the formats' range
tells): paper 000, section 3.2. The places are the K products, and c last.
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus import Operands, OperandShape
from golden.stimulus.integers import is_integer
from probe.box import Questioner
from probe.tree import Exact, Tree, drawn

SMALL = 6
"""Values of v that are tried."""

ALL_PAIRS = 8
"""Terms of a flat node up to which every pair is asked; of more, pairs whose places are a power of two apart."""


class Unresolved(ValueError):
    """No tree gives the answers; the message says what stands against it."""


@dataclass(frozen=True)
class Order:
    """What the answers say of the order.

    Attributes:
        tree: over `p0` … and `c`; None where none gives the answers, `why` says what stands against it.
        reach: U is 2^reach times v: a node that keeps more bits below its largest term counts as exact.
        asked: vectors.
    """

    tree: Tree | None
    reach: int
    asked: int
    why: str = ""


def order_of(questioner: Questioner) -> Order:
    """Ask a box for its order.

    Raises:
        BoxError: the box misbehaves.
    """
    shape = questioner.box.shape
    if is_integer(shape):
        return Order(None, 0, 0, "sums of integers lose nothing that would show an order")
    asker = _Asker(questioner)
    try:
        asker.choose_small()
        tree = _Builder(asker).tree(tuple(range(shape.K + 1)))
        named = _named(tree, shape.K)
        asker.check(tree)
    except Unresolved as error:
        return Order(None, asker.reach, asker.asked, str(error))
    return Order(named, asker.reach, asker.asked)


def text_of(order: Order) -> str:
    """The report."""
    lines = [f"order from the answers alone, {order.asked} vectors, large terms 2^{order.reach} times the small ones"]
    lines += [f"not found: {order.why}"] if order.tree is None else drawn(order.tree).splitlines()
    return "\n".join(lines) + "\n"


def as_dict(order: Order) -> dict[str, Any]:
    """For JSON; in `tree` a node is a list."""
    return {"tree": order.tree, "drawn": None if order.tree is None else drawn(order.tree), "reach": order.reach,
            "vectors": order.asked, "why": order.why}  # fmt: skip


class _Asker:
    """Makes the questions and reads the answers."""

    def __init__(self, questioner: Questioner) -> None:
        self._questioner, self._shape = questioner, questioner.box.shape
        self.asked = self.reach = 0
        self._small = self._top = 0
        self._known: dict[tuple[int, int], int] = {}

    def choose_small(self) -> None:
        """Find the smallest v of which K + 1 are summed without loss, and K − 1 beside two zeros, whose exponent may count.

        Raises:
            Unresolved: there is none.
        """
        shape = self._shape
        low = max(shape.a.e_min + shape.b.e_min, shape.c.e_min, shape.d.e_min)
        self._top = min(shape.a.e_max + shape.b.e_max, shape.c.e_max, shape.d.e_max - 1)
        tried = np.unique(np.linspace(low, self._top, SMALL).astype(int)).tolist()
        small = [Fraction(2) ** v for v in tried]
        sums = self._ask([[v] * (shape.K + 1) for v in small])
        beside_zeros = self._ask([[Fraction(0), *[v] * (shape.K - 1), Fraction(0)] for v in small])
        for v, *totals in zip(tried, sums, beside_zeros, strict=True):
            if totals == [(shape.K + 1) * Fraction(2) ** v, (shape.K - 1) * Fraction(2) ** v]:
                self._small, self.reach = v, self._top - v
                return
        raise Unresolved("no power of two is there of which one in each place is summed without loss, beside zeros too")

    def lost(self, i: int, j: int) -> int:
        """Terms lost, those in i and j among them.

        Raises:
            Unresolved: the answer is no number of small terms.
        """
        pair = (min(i, j), max(i, j))
        if pair not in self._known:
            self.ask_pairs([pair])
        return self._known[pair]

    def ask_pairs(self, pairs: Collection[tuple[int, int]]) -> None:
        """Ask several at once, so that a slow box is called less often."""
        n, v = self._shape.K + 1, Fraction(2) ** self._small
        fresh = [pair for pair in dict.fromkeys((min(p), max(p)) for p in pairs) if pair not in self._known]
        rows = []
        for i, j in fresh:
            row = [v] * n
            row[i], row[j] = Fraction(2) ** self._top, -(Fraction(2) ** self._top)
            rows.append(row)
        for pair, total in zip(fresh, self._ask(rows) if rows else [], strict=True):
            kept = None if total is None else total / v
            if kept is None or kept.denominator != 1 or not 0 <= kept <= n - 2:
                where = " and ".join("c" if place == n - 1 else f"p{place}" for place in pair)
                raise Unresolved(f"with 2^{self._top} and its opposite in {where}, d is no number of terms 2^{self._small}")
            self._known[pair] = n - int(kept)

    def check(self, tree: "Tree_") -> None:
        """Hold a tree against every pair that was asked.

        Raises:
            Unresolved: it gives another number.
        """
        for (i, j), lost in self._known.items():
            if expected_loss(tree, i, j) != lost:
                raise Unresolved(f"{lost} terms are lost between places {i} and {j}, which no tree gives with the others")

    def _ask(self, rows: list[list[Fraction]]) -> list[Fraction | None]:
        """d of rows of K products and c; None where it is no number."""
        operands = operands_of_values(self._shape, rows)
        self.asked += len(rows)
        return [self._shape.d.value(int(code)) for code in self._questioner.ask(operands)]


def operands_of_values(shape: OperandShape, rows: list[list[Fraction]]) -> Operands:
    """Operands whose products and c are powers of two, with scales of one."""

    def factor(operand: Format, other: Format, value: Fraction) -> int:
        """The part of an exponent that one operand takes: as much of it as it can, so that the other need not be zero."""
        exp = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
        return min(max(exp - other.e_max, min(exp - other.e_min, operand.e_max, max(operand.e_min, 0))), operand.e_max)

    a, b, c = [], [], []
    for *products, addend in rows:
        exps = [factor(shape.a, shape.b, value) for value in products]
        a.append(
            [
                shape.a.encode((-1 if value < 0 else 1) * Fraction(2) ** exp)
                for value, exp in zip(products, exps, strict=True)
            ]
        )
        b.append([shape.b.encode(abs(value) / Fraction(2) ** exp) for value, exp in zip(products, exps, strict=True)])
        c.append(shape.c.encode(addend))
    scales = None
    if shape.scale is not None:
        scales = np.full((len(rows), shape.blocks), shape.scale.encode(1), bits_dtype(shape.scale))
    return Operands(
        np.array(a, bits_dtype(shape.a)), np.array(b, bits_dtype(shape.b)), np.array(c, bits_dtype(shape.c)), scales, scales
    )  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A node over places; exact: small terms are kept beside large ones."""

    children: "tuple[Tree_, ...]"
    exact: bool

    @property
    def size(self) -> int:
        """Leaves below."""
        return sum(_size(child) for child in self.children)


Tree_ = int | Node
"""A place, or a node."""


def _size(tree: Tree_) -> int:
    return 1 if isinstance(tree, int) else tree.size


def leaves(tree: Tree_) -> set[int]:
    """Its places."""
    return {tree} if isinstance(tree, int) else {leaf for child in tree.children for leaf in leaves(child)}


def expected_loss(tree: Tree_, i: int, j: int) -> int:
    """Terms that are lost in such a tree with U in place i and −U in place j."""
    assert isinstance(tree, Node)
    holding = [next(child for child in tree.children if place in leaves(child)) for place in (i, j)]
    if holding[0] is holding[1] or holding[0] == holding[1]:
        return expected_loss(holding[0], i, j)
    return sum(map(_size, holding)) if tree.exact else tree.size


class _Builder:
    """Builds the tree from the numbers of lost terms, asking for those that it needs."""

    def __init__(self, asker: _Asker) -> None:
        self._asker = asker

    def tree(self, places: tuple[int, ...]) -> Tree_:
        """The tree over places that are all leaves of one node.

        Along the path from the first place to the root, the set of places that lose at most n terms with it has n members
        wherever it is a node.
        """
        if len(places) == 1:
            return places[0]
        first, *others = places
        row = self._row(first, others)
        nested = [{first}]
        for n in range(2, len(places)):
            within = {first} | {k for k, lost in row.items() if lost <= n}
            if len(within) == n:
                nested.append(within)
        everything = set(places)
        if nested[-1] != everything:
            nested.append(everything)
        return self._climbed(first, row, nested)

    def _climbed(self, first: int, row: dict[int, int], nested: list[set[int]]) -> Tree_:
        """From the first place to the root, one node for each of the nested sets that is one."""
        tree: Tree_ = first
        below = [(nested[0], tree)]
        for whole in nested[1:]:
            node = None
            while (
                node is None
            ):  # two leaves of an exact node look like a node of their own; then it is the one below that counts
                inner, tree = below[-1]
                node = self._node(tree, inner, row, whole)
                if node is None:
                    below.pop()
                if not below:
                    raise Unresolved(f"no node of {len(whole)} terms gives the answers")
            below.append((whole, node))
        return below[-1][1]

    def _node(self, inner: Tree_, known: set[int], row: dict[int, int], whole: set[int]) -> Node | None:
        """The node over `whole` of which one child is known; None where there is none."""
        ring, size = sorted(whole - known), len(whole)
        exact = any(row[k] != size for k in ring)
        children: list[Tree_] = [inner]
        if not exact:
            flat = self._is_flat(ring, size)
            if flat:
                return Node((inner, *ring), False)
        while ring:
            first, *others = ring
            lost = self._row(first, others)
            count = row[first] - len(known) if exact else size
            child = {first} | {k for k, n in lost.items() if (n <= count if exact else n < size)}
            if exact and len(child) != count:
                return None
            children.append(self.tree(tuple(sorted(child))))
            ring = [k for k in ring if k not in child]
        return Node(tuple(children), exact)

    def _is_flat(self, ring: list[int], size: int) -> bool:
        """Whether no two of many terms meet before the node: of all pairs those are asked that a tree would join first."""
        if len(ring) <= ALL_PAIRS:
            return False
        steps = [1 << n for n in range(len(ring).bit_length()) if 1 << n < len(ring)]
        pairs = [(ring[k], ring[k + step]) for step in steps for k in range(len(ring) - step)]
        self._asker.ask_pairs(pairs)
        return all(self._asker.lost(i, j) == size for i, j in pairs)

    def _row(self, first: int, others: list[int]) -> dict[int, int]:
        self._asker.ask_pairs([(first, k) for k in others])
        return {k: self._asker.lost(first, k) for k in others}


def _named(tree: Tree_, K: int) -> Tree:
    if isinstance(tree, int):
        return "c" if tree == K else f"p{tree}"
    children = [
        _named(child, K) for child in sorted(tree.children, key=lambda child: (K not in leaves(child), min(leaves(child))))
    ]
    return Exact(children) if tree.exact and len(children) > 2 else children
