"""IDPA: the exact dot product and add of integers, which wraps around or saturates (x86's TDPB*D, VPDPBUSD and VPDPBUSDS;
numerics.md, section 11)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from golden.checks import check_choice
from golden.formats import INT32, Format
from golden.operations.base import Operation, check_length

BeyondRange = Literal["wrap", "saturate"]

BEYOND_RANGE: tuple[BeyondRange, ...] = ("wrap", "saturate")
"""What becomes of a sum beyond int32: its low 32 bits; the largest or the smallest number."""


@dataclass(frozen=True, kw_only=True)
class IDPA(Operation):
    """d = c + Σ a_k·b_k in integers, exact, and brought into the range of int32 once, at the end of a step.

    Attributes:
        a, b: int8 or uint8.
        c: int32; d has it too.
        L: products a step.
        overflow: what becomes of a sum beyond int32, `wrap` or `saturate`.
    """

    name: ClassVar[str] = "IDPA"

    L: int
    overflow: BeyondRange = "wrap"

    def _multiplicands(self) -> Collection[str]:
        return ("int8", "uint8")

    def _accumulators(self) -> Collection[str]:
        return ("int32",)

    def _validate(self) -> None:
        check_length(self.L)
        check_choice("overflow", self.overflow, BEYOND_RANGE)

    @property
    def d(self) -> Format:
        return INT32

    @property
    def length(self) -> int:
        return self.L

    def nan_is_fixed(self) -> bool:
        return True  # there is none: every code is a number

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decode(self.a, a), self.decode(self.b, b), self.c.decode(c)
        # 1. exact terms
        products = [self.multiply(p, q, 0, 0) for p, q in zip(x, y, strict=True)]
        # 2. accumulate
        total, _ = self.exact_sum([*products, self.addend(z, self.c, 0)])
        # 3. into the range of int32
        return self.narrowed(total)

    def narrowed(self, total: int) -> int:
        """The code of a sum, or of what takes its place where int32 does not hold it."""
        return total % INT32.codes if self.overflow == "wrap" else INT32.encode_scaled(total, 0, "RZ")
