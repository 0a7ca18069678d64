"""The summation tree of a device under test, found from its answers alone and without assuming an operation: FPRev for nodes
of any number of terms.

One place holds a large number U, another −U, and all others a small number v. Terms that are added to U before −U are lost;
so d / v is the number of terms that do not lie below the lowest common node of the two places. A node of more than two terms
may lose the others too (swamped), or retain them beside U and −U (exact, within the range of the formats): paper 000,
section 3.2. The places are the K products, and c last.

Where sums are rounded toward zero, −U + v is not −U but the next number above it, h more; each node on the way from −U adds
another h. Then v is chosen so small that all of them together are less than h, d modulo h is counted, and the tree must give
the multiple of h too.

`Builder` makes the nodes from the numbers of terms lost with a large term and its opposite in any two places.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import bits_dtype
from golden.stimulus import Operands, OperandShape
from golden.stimulus.integer_classes import is_integer
from mmau.probe.device_under_test import Questioner
from mmau.probe.model_tree import Exact, Tree, drawn

ALL_PAIRS = 64
"""Terms of a flat node up to which every pair is asked; of more, pairs whose places are a power of two apart."""


class Unresolved(ValueError):
    """No tree gives the answers; the message states the contradiction."""


class Asker(Protocol):
    """The questions that a builder puts to the device under test."""

    def lost(self, i: int, j: int) -> int:
        """The number of terms lost, including those in i and j."""
        ...

    def ask_pairs(self, pairs: Collection[tuple[int, int]]) -> None:
        """Ask about several pairs in one question."""
        ...


@dataclass(frozen=True)
class Node:
    """A node over places; exact: it retains small terms beside large ones."""

    children: "tuple[Places, ...]"
    exact: bool

    @property
    def size(self) -> int:
        """Number of leaves below the node."""
        return sum(size_of(child) for child in self.children)


Places = int | Node
"""A place, or a node."""


def size_of(tree: Places) -> int:
    return 1 if isinstance(tree, int) else tree.size


def leaves(tree: Places) -> set[int]:
    """The places of a tree."""
    return {tree} if isinstance(tree, int) else {leaf for child in tree.children for leaf in leaves(child)}


def expected_loss(tree: Places, i: int, j: int) -> int:
    """Terms that are lost in such a tree with U in place i and −U in place j."""
    assert isinstance(tree, Node)
    holding = [next(child for child in tree.children if place in leaves(child)) for place in (i, j)]
    if holding[0] is holding[1] or holding[0] == holding[1]:
        return expected_loss(holding[0], i, j)
    return sum(map(size_of, holding)) if tree.exact else tree.size


def expected_gain(tree: Places, i: int, j: int) -> int:
    """The nodes between place j and the first one above it that place i is in too."""
    assert isinstance(tree, Node)
    child = next(child for child in tree.children if j in leaves(child))
    return expected_gain(child, i, j) if i in leaves(child) else _levels(child, j)


def _levels(tree: Places, place: int) -> int:
    """The nodes above a place."""
    if isinstance(tree, int):
        return 0
    return 1 + _levels(next(child for child in tree.children if place in leaves(child)), place)


class Builder:
    """Builds the tree from the numbers of lost terms, and asks for the numbers that it needs."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def tree(self, places: tuple[int, ...]) -> Places:
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

    def _climbed(self, first: int, row: dict[int, int], nested: list[set[int]]) -> Places:
        """The tree along the path from the first place to the root, one node for each nested set that forms one."""
        tree: Places = first
        below = [(nested[0], tree)]
        for whole in nested[1:]:
            node = None
            while (
                node is None
            ):  # two leaves of an exact node look like a separate node; then the node below is the right child
                inner, tree = below[-1]
                node = self._node(tree, inner, row, whole)
                if node is None:
                    below.pop()
                if not below:
                    raise Unresolved(f"no node of {len(whole)} terms gives the answers")
            below.append((whole, node))
        return below[-1][1]

    def _node(self, inner: Places, known: set[int], row: dict[int, int], whole: set[int]) -> Node | None:
        """The node over `whole` with one known child; None where the answers admit no such node."""
        ring, size = sorted(whole - known), len(whole)
        exact = any(row[k] != size for k in ring)
        children: list[Places] = [inner]
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
        """Whether no two of many terms are added below the node; asks only the pairs that a tree would join first."""
        if len(ring) <= ALL_PAIRS:
            return False
        steps = [1 << n for n in range(len(ring).bit_length()) if 1 << n < len(ring)]
        pairs = [(ring[k], ring[k + step]) for step in steps for k in range(len(ring) - step)]
        self._asker.ask_pairs(pairs)
        return all(self._asker.lost(i, j) == size for i, j in pairs)

    def _row(self, first: int, others: list[int]) -> dict[int, int]:
        self._asker.ask_pairs([(first, k) for k in others])
        return {k: self._asker.lost(first, k) for k in others}


SMALL = (6, 40)
"""Numbers of values of v to try: first a few; more if none of these fits."""


@dataclass(frozen=True)
class Order:
    """The findings about the order.

    Attributes:
        tree: over `p0` … and `c`; None where no tree gives the answers; `why` is the contradiction then.
        reach: U is 2^reach times v: a node that retains more bits below its largest term counts as exact.
        asked: number of vectors.
    """

    tree: Tree | None
    reach: int
    asked: int
    why: str = ""


def order_of(questioner: Questioner) -> Order:
    """Ask a device under test for its order.

    Raises:
        DeviceUnderTestError: the device under test misbehaves.
    """
    shape = questioner.dut.shape
    if is_integer(shape):
        return Order(None, 0, 0, "sums of integers are exact in every order")
    up, down = _Asker(questioner, 1), _Asker(questioner, -1)
    asked, orders = 0, []
    for asker, choose in ((up, up.choose_small), (down, down.choose_small), (up, up.choose_below_step)):
        before = asker.asked
        order = _found(asker, choose)  # where sums are rounded up, only negative terms show losses
        asked += order.asked - before
        orders.append(replace(order, asked=asked))
        if order.tree is not None:
            return orders[-1]
    return replace(orders[0], asked=asked)


def _found(asker: "_Asker", choose: Callable[[], None]) -> Order:
    """The findings with small terms that are chosen so."""
    K = asker.shape.K
    try:
        choose()
        tree = Builder(asker).tree(tuple(range(K + 1)))
        asker.check(tree)
    except Unresolved as error:
        return Order(None, asker.reach, asker.asked, str(error))
    return Order(_named(tree, K), asker.reach, asker.asked)


def text_of(order: Order) -> str:
    """The report as text."""
    lines = [f"order from the answers alone, {order.asked} vectors, large terms 2^{order.reach} times the small ones"]
    lines += [f"not found: {order.why}"] if order.tree is None else drawn(order.tree).splitlines()
    return "\n".join(lines) + "\n"


def as_dict(order: Order) -> dict[str, Any]:
    """The report as plain JSON; in `tree` a node is a list."""
    return {"tree": order.tree, "drawn": None if order.tree is None else drawn(order.tree), "reach": order.reach,
            "vectors": order.asked, "why": order.why}  # fmt: skip


class _Asker:
    """Makes the questions and reads the answers."""

    def __init__(self, questioner: Questioner, sign: int) -> None:
        """Ask with small terms of this sign, ±1; the first large term has the same sign."""
        self._questioner, self.shape, self._sign = questioner, questioner.dut.shape, sign
        self.asked = self.reach = 0
        self._small = self._top = 0
        self._step: Fraction | None = None
        self._contradiction: tuple[int, int] | None = None
        self._known: dict[tuple[int, int], int] = {}
        self._gains: dict[tuple[int, int], int] = {}

    def choose_small(self) -> None:
        """Find the smallest v such that K + 1 terms v are summed without loss, and also K − 1 of them beside two zeros (the
        exponent of a zero may count).

        Raises:
            Unresolved: there is no such v.
        """
        shape = self.shape
        low = max(shape.a.e_min + shape.b.e_min, shape.c.e_min, shape.d.e_min)
        self._top = min(shape.a.e_max + shape.b.e_max, shape.c.e_max, shape.d.e_max - 1)
        for count in SMALL:
            tried = np.unique(np.linspace(low, self._top, count).astype(int)).tolist()
            if self._choose_among(tried):
                return
        raise Unresolved("no power of two in all places is summed without loss, with and without zeros beside it")

    def choose_below_step(self) -> None:
        """Find h, which −U gains from a single small term, at a pair of places whose answer contradicts every tree; then v
        for which those of all places are less than h.

        Raises:
            Unresolved: there is no such pair, or −U gains nothing, or v is not summed without loss.
        """
        if self._contradiction is None:
            raise Unresolved("no answer shows a sum that is rounded toward zero")
        n, v, large = self.shape.K + 1, Fraction(2) ** self._small, Fraction(2) ** self._top
        i, j = self._contradiction
        alone = [{i: large, j: -large, k: v} for k in range(n) if k not in (i, j)]
        totals = self._ask([[row.get(k, Fraction(0)) for k in range(n)] for row in alone])
        step = min((total for total in totals if total is not None and total not in (0, v)), default=Fraction(0))
        bits = step.numerator.bit_length() - step.denominator.bit_length()
        if step != Fraction(2) ** bits or not self._choose_among([bits - n.bit_length()]):
            raise Unresolved("a small term leaves no power of two beside a large one of the other sign")
        self._step = step
        self._known.clear()

    def _choose_among(self, tried: Sequence[int]) -> bool:
        """Choose the first power of two that is summed without loss, if there is one."""
        n, small = self.shape.K + 1, [self._sign * Fraction(2) ** v for v in tried]
        sums = self._ask([[v] * n for v in small])
        beside_zeros = self._ask([[Fraction(0), *[v] * (n - 2), Fraction(0)] for v in small])
        for v, value, *totals in zip(tried, small, sums, beside_zeros, strict=True):
            if totals == [n * value, (n - 2) * value]:
                self._small, self.reach = v, self._top - v
                return True
        return False

    def lost(self, i: int, j: int) -> int:
        """The number of terms lost, including those in i and j.

        Raises:
            Unresolved: the answer is not a whole number of small terms.
        """
        pair = (min(i, j), max(i, j))
        if pair not in self._known:
            self.ask_pairs([pair])
        return self._known[pair]

    def ask_pairs(self, pairs: Collection[tuple[int, int]]) -> None:
        """Ask about several pairs in one question, so that a slow device under test is called less often."""
        n, v, large = self.shape.K + 1, self._sign * Fraction(2) ** self._small, self._sign * Fraction(2) ** self._top
        fresh = [pair for pair in dict.fromkeys((min(p), max(p)) for p in pairs) if pair not in self._known]
        rows = []
        for i, j in fresh:
            row = [v] * n
            row[i], row[j] = large, -large
            rows.append(row)
        for pair, total in zip(fresh, self._ask(rows) if rows else [], strict=True):
            gain = 0 if total is None or self._step is None else total // self._step
            remaining = None if total is None else (total - gain * (self._step or 0)) / v
            if remaining is None or remaining.denominator != 1 or not 0 <= remaining <= n - 2:
                self._contradiction = pair
                where = " and ".join("c" if place == n - 1 else f"p{place}" for place in pair)
                raise Unresolved(
                    f"with 2^{self._top} and its opposite in {where}, d is not a whole number of terms 2^{self._small}"
                )
            self._known[pair], self._gains[pair] = n - int(remaining), gain

    def check(self, tree: Places) -> None:
        """Compare a tree with the answer to every pair that was asked.

        Raises:
            Unresolved: the tree predicts another number of lost terms.
        """
        for (i, j), lost in self._known.items():
            if expected_loss(tree, i, j) != lost:
                raise Unresolved(
                    f"{lost} terms are lost between places {i} and {j}: no tree gives this and the other answers"
                )
            if self._step is not None and expected_gain(tree, i, j) != self._gains[i, j]:
                raise Unresolved(f"{self._gains[i, j]} nodes round between places {i} and {j}: no tree gives this")

    def _ask(self, rows: list[list[Fraction]]) -> list[Fraction | None]:
        """d of rows of K products and c; None where d is not finite."""
        operands = operands_of_values(self.shape, rows)
        self.asked += len(rows)
        return [self.shape.d.value(int(code)) for code in self._questioner.ask(operands)]


def operands_of_values(shape: OperandShape, rows: list[list[Fraction]]) -> Operands:
    """Operands whose products and c are powers of two, with scales of one."""

    def factor(operand: Format, other: Format, value: Fraction) -> int:
        """The exponent of one of two factors: it takes as much of the product's exponent as the format allows, so that the
        other factor need not be zero."""
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


def _named(tree: Places, K: int) -> Tree:
    if isinstance(tree, int):
        return "c" if tree == K else f"p{tree}"
    children = [
        _named(child, K) for child in sorted(tree.children, key=lambda child: (K not in leaves(child), min(leaves(child))))
    ]
    return Exact(children) if tree.exact and len(children) > 2 else children
