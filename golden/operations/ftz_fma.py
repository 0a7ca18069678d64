"""FTZ-FMA: one chain of fused multiply-adds that flush subnormals (x86's VDPBF16PS; numerics.md, section 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.operations.flushed_fma import FlushedFMA, rounding
from golden.operations.structure import Addend, Partial, Product, Structure, Sum, fma


@dataclass(frozen=True, kw_only=True)
class FTZFMA(FlushedFMA):
    """d = FMA(a_0, b_0, FMA(a_1, b_1, … c)): from c, the last product of a step first. The keys: `FlushedFMA`."""

    name: ClassVar[str] = "FTZ-FMA"
    rank = 8

    @property
    def product_order(self) -> Sequence[int]:
        return range(self.L - 1, -1, -1)

    @cached_property
    def structure(self) -> Structure:
        sums: list[Sum] = []
        for number, k in enumerate(self.product_order):
            before = Partial(number - 1, "addend", "addends") if number else Addend("addend")
            of = "multiply-add" if number < self.L - 1 else "result"
            sums.append(fma(Product(k), before, rounding(of), alike="product and addend", total="the sum so far"))
        return self.fused(sums)

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        d = c
        for k in self.product_order:
            d = self.fma(self.widened(self.a, a[k]), self.widened(self.b, b[k]), d)
        return d
