"""The base of the fused operations: one rounding ρ of a sum, and the treatment of subnormals and of overflow."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.arithmetic.coded_format import IntegerElement
from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import Decoded, Format, IntegerFormat
from golden.arithmetic.rounding import OVERFLOWS, Overflow
from golden.arithmetic.steps import flushed
from golden.checks import check_choice, listed
from golden.operations.base import Operation, check_flag
from golden.operations.structure import Rounding


@dataclass(frozen=True, kw_only=True)
class FusedOperation(Operation):
    """All operations but FTZ-AddMul, which flushes and overflows by its definition.

    The keys are for user designs (numerics.md, section 13); no published unit has one.

    Attributes:
        flush_inputs: whether a subnormal a, b or c is read as a zero of its sign, in every step of a chain. Scales are not.
        flush_results: whether a result below the normal numbers, once rounded, becomes a zero of its sign.
        overflow: the result of a finite sum beyond the largest finite number: `infinity`, `saturate` or `by-mode`.
    """

    own_keys: ClassVar[tuple[str, ...]] = ("flush_inputs", "flush_results", "overflow")

    flush_inputs: bool = False
    flush_results: bool = False
    overflow: Overflow = "infinity"

    def _validate(self) -> None:
        check_flag("flush_inputs", self.flush_inputs)
        check_flag("flush_results", self.flush_results)
        check_choice("overflow", self.overflow, OVERFLOWS)
        for key in (key for key in self.operands if key != "c"):
            if self.flush_inputs and isinstance(getattr(self, key), IntegerElement | IntegerFormat):
                raise ValueError(f"flush_inputs must be false where {key} is an integer, which has no subnormals; got true")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_result()

    def _check_result(self) -> None:
        """Raise ValueError if d lacks a result that a step may have."""
        if self.d.nan is not None:
            return
        read = {key: getattr(self, key) for key in (*self.operands, "scale") if getattr(self, key, None) is not None}
        special = [f"{key} in {form}" for key, form in read.items() if form.nan is not None or form.infinity is not None]
        if special:
            raise ValueError(
                f"rho must give a format that has a NaN, which {listed(special)} may lead to; got {self.conversion}"
            )
        if self.overflow != "saturate":
            raise ValueError(
                f"overflow must be saturate where rho gives {self.d}, which has neither infinity nor NaN; "
                f"got {self.overflow}"
            )

    @property
    @abstractmethod
    def conversion(self) -> Conversion:
        """The conversion ρ of the sum."""

    @property
    def d(self) -> Format:
        return self.conversion.d

    @property
    def rounding(self) -> Rounding:
        """The conversion of the last sum, as a part of the operation's structure."""
        rho = self.conversion
        return Rounding("result", rho.mode, rho.rounding_format, self.flushes_results)

    @property
    def flushes_results(self) -> bool:
        """Whether a result below the normal numbers becomes a zero; in a format without subnormals it always does."""
        return self.flush_results or not self.conversion.rounding_format.subnormals

    @property
    def flushed_formats(self) -> tuple[Format, ...]:
        """The formats of operands whose subnormals are read as zeros."""
        return tuple({self.a, self.b, self.c}) if self.flush_inputs else ()

    def decoded(self, a: Sequence[int], b: Sequence[int], c: int) -> tuple[list[Decoded], list[Decoded], Decoded]:
        """Step decode of the operands; with `flush_inputs`, subnormals become zeros of their sign."""
        x, y, z = self.decode(self.a, a), self.decode(self.b, b), self.c.decode(c)
        if self.flush_inputs:
            return [flushed(p) for p in x], [flushed(q) for q in y], flushed(z)
        return x, y, z

    def decoded_scales(self, name: str, codes: Sequence[int]) -> list[Decoded]:
        """Step decode of scales: ones on a side without scales, none where there are none at all."""
        if self.scale_format is None:
            return []
        given = codes if name in self.scale_operands else [self.scale_format.encode(1)] * self.scales_per_step
        return self.decode(self.scale_format, given)

    def converted(self, total: int, exp: int) -> int:
        """Steps normalise, round and encode: ρ of `total · 2**exp`, a code of d."""
        return self.conversion.encode(total, exp, self.overflow, self.flush_results)
