"""FTZ-EO-FMA: fused multiply-adds that flush subnormals, a chain over the even elements and one over the odd ones (x86's
TDPBF16PS and TDPFP16PS; numerics.md, section 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.operations.flushed_fma import FlushedFMA


@dataclass(frozen=True, kw_only=True)
class FTZEOFMA(FlushedFMA):
    """d = c + (even + odd): each chain from +0 in order of k, then two additions. The keys: `FlushedFMA`; L is even."""

    name: ClassVar[str] = "FTZ-EO-FMA"

    def _validate(self) -> None:
        super()._validate()
        if self.L % 2:
            raise ValueError(f"L of FTZ-EO-FMA must be even, got {self.L}")

    @property
    def product_order(self) -> Sequence[int]:
        return range(self.L)

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        # 1. two chains
        chains = [0, 0]
        for k in self.product_order:
            chains[k % 2] = self.fma(self.widened(self.a, a[k]), self.widened(self.b, b[k]), chains[k % 2])
        # 2. their sum
        total = self.add(*chains)
        # 3. accumulate: c is the first operand, so its NaN takes precedence
        return self.add(c, total)
