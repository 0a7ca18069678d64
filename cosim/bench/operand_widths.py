"""How c and d of a user design differ from those of its unit: no c, a narrower c, a fixed-point d."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosim.bench.specified_rows import FixedPoint
from golden import Format, Operation
from golden.arrays import BitArray
from golden.integer_format import IntegerFormat


@dataclass(frozen=True)
class OperandWidths:
    """The widths of c and d of a design, where they are not the unit's.

    Attributes:
        c_bits: bits of c, which is extended by its sign; 0 where the design has no c, which then counts as 0. None for the
            unit's c.
        d: the fixed-point number that d is; None for the unit's d.
    """

    c_bits: int | None = None
    d: FixedPoint | None = None

    def check(self, operation: Operation) -> None:
        """Raise ValueError where the unit's operation has no such c or d."""
        if self.c_bits and not (isinstance(operation.c, IntegerFormat) and self.c_bits < operation.c.width):
            raise ValueError(
                f"[operands] c has fewer bits only where it is an integer: of {operation.name} with c in {operation.c} "
                f'it must be "none" or have at most {operation.c.width - 1} bits, got {self.c_bits}'
            )
        if self.d is None:
            return
        structure = operation.structure
        fused = structure.is_exact and "L" in operation.unit_keys()
        if not fused and not structure.is_integer:
            raise ValueError(
                f"[operands] d is a fixed-point number only of E-FDPA and IDPA, whose sums are exact; got {operation.name}"
            )
        if fused and (structure.flushed or getattr(operation, "overflow", None) == "by-mode"):
            raise ValueError('a fixed-point d goes without flush_inputs and overflow = "by-mode"')

    def restricted(self, codes: BitArray, c: Format) -> BitArray:
        """Codes of c that the design can take: 0, or extended from their low bits."""
        if self.c_bits is None:
            return codes
        sign = (1 << self.c_bits) >> 1
        wide = codes.astype(np.int64) & ((1 << self.c_bits) - 1)
        return (((wide ^ sign) - sign) & (c.codes - 1)).astype(codes.dtype)

    def as_table(self) -> dict[str, Any]:
        """The widths for JSON: `from_table` reads them back."""
        d = None if self.d is None else {"width": self.d.width, "fraction": self.d.fraction}
        return {"c_bits": self.c_bits, "d": d}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "OperandWidths":
        """The widths that `as_table` wrote."""
        d = table["d"]
        return cls(table["c_bits"], None if d is None else FixedPoint(**d))


THE_UNITS = OperandWidths()
"""The widths of the unit itself."""
