"""FMA: IEEE 754 fused multiply-add (paper 000, algorithm 3, which rounds to nearest even)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from golden.conversion import Conversion, check_conversion, conversion, conversions_to
from golden.operations.fused import FusedOperation
from golden.operations.ieee import is_zero_negative
from golden.specials import quiet_nan, sum_special

FORMATS = ("fp16", "bf16", "fp32", "fp64")


@dataclass(frozen=True, kw_only=True)
class FMA(FusedOperation):
    """d = ρ(a·b + c), one product a step; a chain over k = 0 … K−1 makes Φ_FMA.

    Attributes:
        a, b, c: one format for all three, fp16, bf16, fp32 or fp64 (published: fp32, fp64); d has it too.
        rho: rounding of the sum, to that format; left out, RNE (published).
        The other keys: `FusedOperation`.
    """

    name: ClassVar[str] = "FMA"
    own_keys = ("rho", *FusedOperation.own_keys)

    rho: str | None = None

    def _multiplicands(self) -> Collection[str]:
        return FORMATS

    def _accumulators(self) -> Collection[str]:
        return FORMATS

    def _validate(self) -> None:
        super()._validate()
        if not self.a == self.b == self.c:
            raise ValueError(f"FMA takes one format for a, b and c; got a={self.a}, b={self.b}, c={self.c}")
        if self.rho is None:
            object.__setattr__(self, "rho", self._default("rho"))
        check_conversion(self.rho, conversions_to(self.c))

    def _default(self, key: str) -> Any:
        return f"RNE-{self.c.name.upper()}" if key == "rho" else super()._default(key)

    @property
    def conversion(self) -> Conversion:
        return conversion(str(self.rho))

    @property
    def length(self) -> int:
        return 1

    def with_length(self, length: int) -> Self:
        return self

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = sum_special(x, y, z)
        if special is not None:
            return self.encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact terms
        product = self.multiply(x[0], y[0], self.product_frac, self.product_exp_min)
        # 2. accumulate
        total, lsb = self.exact_sum([product, self.addend(z, self.c, self.c.e_min)])
        # 3. round; an exact zero has the sign that IEEE 754 gives it
        if total == 0:
            signs = (x[0].sign ^ y[0].sign, z.sign)
            return self.d.negative_zero if is_zero_negative(signs, self.conversion.mode) else 0
        return self.converted(total, lsb)
