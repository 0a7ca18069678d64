"""The progress of one instruction."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Progress:
    """The progress of one instruction, as plain JSON.

    Attributes:
        status: running, done, absent (the device need not have it), dependent (results depend on place, run or operand
            route), hung, crashed or failed.
        vectors: results compared, by class or corner; mismatches: those that differed.
        rows_done: whether the rows of the stimulus have been compared.
        next_tile: where the tiles go on.
        first: the first mismatch, simplified. kept: number of differing rows stored in the file.
        machine_code: the matrix instructions of the kernel; unexpected_code: matrix instructions of kernels that differ from
            those that the instruction must become, by operand route.
        sha256: of the binaries that ran, by operand route.
        nans: NaN results by code; negative_zeros: results that are −0; e_zero_results, e_zero_cases: `Tally`.
        orders: where FP8 runs as fp16 work, rows that each order of the products gets wrong, of `order_rows`, all of which
            tell orders apart.
        seconds: time spent on it.
        detail: why it is absent, dependent, hung, crashed or failed.
    """

    status: str = "running"
    vectors: dict[str, int] = field(default_factory=dict)
    mismatches: dict[str, int] = field(default_factory=dict)
    rows_done: bool = False
    next_tile: int = 0
    first: dict[str, Any] | None = None
    kept: int = 0
    machine_code: dict[str, int] = field(default_factory=dict)
    unexpected_code: dict[str, dict[str, int]] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)
    nans: dict[str, int] = field(default_factory=dict)
    negative_zeros: int = 0
    e_zero_results: int = 0
    e_zero_cases: int = 0
    orders: dict[str, int] = field(default_factory=dict)
    order_rows: int = 0
    seconds: float = 0.0
    detail: str = ""

    def total(self) -> int:
        """Results compared."""
        return sum(self.vectors.values())

    def wrong(self) -> int:
        """Results that differed."""
        return sum(self.mismatches.values())

    def open_again(self) -> None:
        """Make an instruction that hung, crashed or failed one that is still to be dealt with."""
        if self.status in ("hung", "crashed", "failed"):
            self.status, self.detail = "running", ""
