"""The summation tree of a box from its answers alone, with no operation in mind: FPRev for nodes of any number of terms.

A large number U stands in one place, −U in another, and a small one v in all others. What meets U before U meets −U is lost;
so d / v says how many terms do not lie below the lowest node that both places have in common. Where a node adds more than
two terms at once it may lose the others too (swamped), or keep them beside U and −U (exact, as far as the formats' range
tells): paper 000, section 3.2. The places are the K products, and c last.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus import Operands, OperandShape
from golden.stimulus.integers import is_integer
from probe.box import Questioner
from probe.nodes import Builder, Unresolved, expected_loss, leaves
from probe.nodes import Tree as Places
from probe.tree import Exact, Tree, drawn

SMALL = (6, 40)
"""Values of v that are tried: few, and where none of them will do, more."""


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
    asked, orders = 0, []
    for sign in (1, -1):  # a sum that is rounded up shows what is lost with negative terms alone
        order = _of_sign(_Asker(questioner, sign))
        asked += order.asked
        orders.append(replace(order, asked=asked))
        if order.tree is not None:
            return orders[-1]
    return replace(orders[0], asked=asked)


def _of_sign(asker: "_Asker") -> Order:
    """What the answers say with small terms of one sign."""
    K = asker.shape.K
    try:
        asker.choose_small()
        tree = Builder(asker).tree(tuple(range(K + 1)))
        asker.check(tree)
    except Unresolved as error:
        return Order(None, asker.reach, asker.asked, str(error))
    return Order(_named(tree, K), asker.reach, asker.asked)


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

    def __init__(self, questioner: Questioner, sign: int) -> None:
        """With small terms of this sign, ±1; that of the first large one is the same."""
        self._questioner, self.shape, self._sign = questioner, questioner.box.shape, sign
        self.asked = self.reach = 0
        self._small = self._top = 0
        self._known: dict[tuple[int, int], int] = {}

    def choose_small(self) -> None:
        """Find the smallest v of which K + 1 are summed without loss, and K − 1 beside two zeros, whose exponent may count.

        Raises:
            Unresolved: there is none.
        """
        shape = self.shape
        low = max(shape.a.e_min + shape.b.e_min, shape.c.e_min, shape.d.e_min)
        self._top = min(shape.a.e_max + shape.b.e_max, shape.c.e_max, shape.d.e_max - 1)
        for count in SMALL:
            tried = np.unique(np.linspace(low, self._top, count).astype(int)).tolist()
            small = [self._sign * Fraction(2) ** v for v in tried]
            sums = self._ask([[v] * (shape.K + 1) for v in small])
            beside_zeros = self._ask([[Fraction(0), *[v] * (shape.K - 1), Fraction(0)] for v in small])
            for v, value, *totals in zip(tried, small, sums, beside_zeros, strict=True):
                if totals == [(shape.K + 1) * value, (shape.K - 1) * value]:
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
        n, v, large = self.shape.K + 1, self._sign * Fraction(2) ** self._small, self._sign * Fraction(2) ** self._top
        fresh = [pair for pair in dict.fromkeys((min(p), max(p)) for p in pairs) if pair not in self._known]
        rows = []
        for i, j in fresh:
            row = [v] * n
            row[i], row[j] = large, -large
            rows.append(row)
        for pair, total in zip(fresh, self._ask(rows) if rows else [], strict=True):
            kept = None if total is None else total / v
            if kept is None or kept.denominator != 1 or not 0 <= kept <= n - 2:
                where = " and ".join("c" if place == n - 1 else f"p{place}" for place in pair)
                raise Unresolved(f"with 2^{self._top} and its opposite in {where}, d is no number of terms 2^{self._small}")
            self._known[pair] = n - int(kept)

    def check(self, tree: Places) -> None:
        """Hold a tree against every pair that was asked.

        Raises:
            Unresolved: it gives another number.
        """
        for (i, j), lost in self._known.items():
            if expected_loss(tree, i, j) != lost:
                raise Unresolved(f"{lost} terms are lost between places {i} and {j}, which no tree gives with the others")

    def _ask(self, rows: list[list[Fraction]]) -> list[Fraction | None]:
        """d of rows of K products and c; None where it is no number."""
        operands = operands_of_values(self.shape, rows)
        self.asked += len(rows)
        return [self.shape.d.value(int(code)) for code in self._questioner.ask(operands)]


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


def _named(tree: Places, K: int) -> Tree:
    if isinstance(tree, int):
        return "c" if tree == K else f"p{tree}"
    children = [
        _named(child, K) for child in sorted(tree.children, key=lambda child: (K not in leaves(child), min(leaves(child))))
    ]
    return Exact(children) if tree.exact and len(children) > 2 else children
