"""Step max_exp: the exponent that all terms are aligned to (golden: `steps.max_exp`)."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from rtl.steps.component import SharedComponent, indexed
from rtl.steps.interfaces import ExpRange, union


class MaxExp(SharedComponent):
    """Combinational maximum of signed exponents, by a balanced tree of ⌈log2 n⌉ compare-and-select levels.

    Args:
        ranges: range of each exponent.
        largest: range of the maximum.

    Members:
        exp_0 …: In, one exponent each.
        e_max: Out, the largest.
    """

    e_max: Signal

    def __init__(self, ranges: Sequence[ExpRange], largest: ExpRange) -> None:
        self.count = len(ranges)
        members = {f"exp_{k}": In(exps.shape) for k, exps in enumerate(ranges)}
        self._common = union(ranges).shape
        super().__init__("max_exp", (*ranges, largest), members | {"e_max": Out(largest.shape)})

    @property
    def exps(self) -> list[Value]:
        """The ports `exp_0` …."""
        return indexed(self, "exp", self.count)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        level = self.exps
        depth = 0
        while len(level) > 1:
            above: list[Value] = []
            for k, (left, right) in enumerate(zip(level[::2], level[1::2], strict=False)):
                larger = Signal(self._common, name=f"max_{depth}_{k}")
                m.d.comb += larger.eq(Mux(left > right, left, right))
                above.append(larger)
            level = above + level[len(above) * 2 :]
            depth += 1
        m.d.comb += self.e_max.eq(level[0])
        return m


class PairwiseMaxExp(SharedComponent):
    """Combinational maximum of signed exponents from all their differences, with the distance of each exponent below it.

    Exponent i is selected if no difference e_j − e_i is positive, of equal exponents the first. Row i of the matrix of
    differences then holds every gap, so that no subtractor waits for e_max.

    Args:
        ranges: range of each exponent.
        largest: range of the maximum.

    Members:
        exp_0 …: In, one exponent each.
        e_max: Out, the largest.
        gap_0 …: Out, e_max − exp_k.
    """

    e_max: Signal

    def __init__(self, ranges: Sequence[ExpRange], largest: ExpRange) -> None:
        self.count = len(ranges)
        exps = {f"exp_{k}": In(exps.shape) for k, exps in enumerate(ranges)}
        gaps = {f"gap_{k}": Out(gap_range(exps, largest)) for k, exps in enumerate(ranges)}
        super().__init__("max_exp", (*ranges, largest), exps | gaps | {"e_max": Out(largest.shape)})

    @property
    def exps(self) -> list[Value]:
        """The ports `exp_0` …."""
        return indexed(self, "exp", self.count)

    @property
    def gaps(self) -> list[Value]:
        """The ports `gap_0` …."""
        return indexed(self, "gap", self.count)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exps, n = self.exps, range(self.count)
        # 1. every difference e_i − e_j, and who wins each pair
        differences = {(i, j): exps[i] - exps[j] for i in n for j in n if i != j}
        wins = {(i, j): Signal(name=f"wins_{i}_{j}") for i in n for j in n if i < j}
        m.d.comb += [win.eq(differences[pair] >= 0) for pair, win in wins.items()]
        # 2. the exponent that loses to none, as one bit of n
        selected = Signal(self.count)
        for i in n:
            defeats = [~wins[i, j] if i < j else wins[j, i] for j in n if i != j]
            m.d.comb += selected[i].eq(~Cat(defeats).any())
        # 3. its value, and its row of the differences
        m.d.comb += self.e_max.eq(select_one_hot(selected, exps))
        for k, gap in enumerate(self.gaps):
            column = [differences[i, k] if i != k else Const(0, 1) for i in n]
            m.d.comb += gap.eq(select_one_hot(selected, column))
        return m


def gap_range(exps: ExpRange, largest: ExpRange) -> range:
    """The distances of a term's exponent below the largest."""
    return range(max(0, largest.high - exps.low) + 1)


def select_one_hot(selected: Value, choices: Sequence[Value]) -> Value:
    """The choice whose bit in `selected` is set."""
    return reduce(or_, (Mux(bit, choice, 0) for bit, choice in zip(selected, choices, strict=True)))
