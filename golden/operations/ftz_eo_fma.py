"""FTZ-EO-FMA: fused multiply-adds that flush subnormals, a chain over the even elements and one over the odd ones (x86's
TDPBF16PS and TDPFP16PS; numerics.md, section 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.operations.flushed_fma import FlushedFMA, rounding
from golden.operations.structure import C, Partial, Product, Structure, Sum, Zero, add, fma


@dataclass(frozen=True, kw_only=True)
class FTZEOFMA(FlushedFMA):
    """d = c + (even + odd): each chain from +0 in order of k, then two additions. The keys: `FlushedFMA`; L is even."""

    name: ClassVar[str] = "FTZ-EO-FMA"
    rank = 9

    def _validate(self) -> None:
        super()._validate()
        if self.L % 2:
            raise ValueError(f"L of FTZ-EO-FMA must be even, got {self.L}")

    @property
    def product_order(self) -> Sequence[int]:
        return range(self.L)

    @cached_property
    def structure(self) -> Structure:
        sums: list[Sum] = []
        for k in self.product_order:
            names = f"{'odd' if k % 2 else 'even'} sum", "first products" if k < 2 else "multiply-add"
            before = Zero() if k < 2 else Partial(k - 2, "chain", "chains")
            alike = "product and +0" if k < 2 else "product and chain"
            sums.append(fma(Product(k), before, rounding(names[1]), alike=alike, total=names[0]))
        even, odd = (
            Partial(self.L - 2 + n, *(("product", "products") if self.L == 2 else ("chain", "chains"))) for n in (0, 1)
        )
        sums.append(add(even, odd, rounding("even and odd"), alike="even and odd", total="even sum + odd sum"))
        sums.append(add(C, Partial(self.L, "sum", "sums"), rounding("result"), alike="c and sum"))
        return self.fused(sums)

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
