"""FMA: IEEE 754 fused multiply-add, round to nearest even (paper 000, algorithm 3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from golden.formats import Format
from golden.operations.base import Operation
from golden.specials import quiet_nan, sum_special


@dataclass(frozen=True, kw_only=True)
class FMA(Operation):
    """d = RNE(a·b + c), one product a step; a chain over k = 0 … K−1 makes Φ_FMA.

    Attributes:
        a, b, c: one format for all three, fp32 or fp64; d has it too.
    """

    name: ClassVar[str] = "FMA"

    def _multiplicands(self) -> Collection[str]:
        return ("fp32", "fp64")

    def _accumulators(self) -> Collection[str]:
        return ("fp32", "fp64")

    def _validate(self) -> None:
        if not self.a == self.b == self.c:
            raise ValueError(f"FMA takes one format for a, b and c; got a={self.a}, b={self.b}, c={self.c}")

    @property
    def d(self) -> Format:
        return self.c

    @property
    def length(self) -> int:
        return 1

    def with_length(self, length: int) -> Self:
        return self

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.a.decode(a[0]), self.b.decode(b[0]), self.c.decode(c)
        special = sum_special([x], [y], z)
        if special is not None:
            return self.encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact terms
        terms = [self.multiply(x, y, self.product_frac, self.product_exp_min), self.addend(z, self.c, self.c.e_min)]
        # 2. accumulate, round
        return self.rounded_sum(terms, self.d, negative_zero=x.sign != y.sign and z.sign == 1)
