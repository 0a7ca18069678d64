"""FTZ-FMA: one chain of fused multiply-adds that flush subnormals (x86's VDPBF16PS; numerics.md, section 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.operations.flushed_fma import FlushedFMA


@dataclass(frozen=True, kw_only=True)
class FTZFMA(FlushedFMA):
    """d = FMA(a_0, b_0, FMA(a_1, b_1, … c)): from c, the last product of a step first. The keys: `FlushedFMA`."""

    name: ClassVar[str] = "FTZ-FMA"

    @property
    def product_order(self) -> Sequence[int]:
        return range(self.L - 1, -1, -1)

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        d = c
        for k in self.product_order:
            d = self.fma(self.widened(self.a, a[k]), self.widened(self.b, b[k]), d)
        return d
