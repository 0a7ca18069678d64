"""Step max_exp: the exponent that everything is aligned to (golden: `steps.max_exp`)."""

from collections.abc import Sequence

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from rtl.parts import Part
from rtl.shapes import ExpRange, union


class MaxExp(Part):
    """Combinational maximum of signed exponents, by a balanced tree of ⌈log2 n⌉ compare-and-select levels.

    Args:
        ranges: what each exponent can be.
        largest: what their maximum can be.

    Members:
        exp_0 …: In, one exponent each.
        e_max: Out, the largest.
    """

    def __init__(self, ranges: Sequence[ExpRange], largest: ExpRange) -> None:
        self.count = len(ranges)
        members = {f"exp_{k}": In(exps.shape) for k, exps in enumerate(ranges)}
        self._common = union(ranges).shape
        super().__init__("max_exp", (*ranges, largest), members | {"e_max": Out(largest.shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        level = [getattr(self, f"exp_{k}") for k in range(self.count)]
        depth = 0
        while len(level) > 1:
            above = []
            for k, (left, right) in enumerate(zip(level[::2], level[1::2], strict=False)):
                larger = Signal(self._common, name=f"max_{depth}_{k}")
                m.d.comb += larger.eq(Mux(left > right, left, right))
                above.append(larger)
            level = above + level[len(above) * 2 :]
            depth += 1
        m.d.comb += self.e_max.eq(level[0])
        return m
