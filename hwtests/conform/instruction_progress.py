"""The progress of one instruction."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Progress:
    """The progress of one instruction, as plain JSON.

    Attributes:
        status: running, done, absent (the device need not have it), dependent (results depend on place, run or operand
            route), hung, crashed or failed.
        vectors: number of results compared, by class or corner.
        mismatches: number of results that differed, by class or corner.
        rows_done: whether the rows of the stimulus have been compared.
        next_tile: number of the next tile to compare.
        first: the first mismatch, simplified.
        kept: number of differing rows stored in the file.
        machine_code: the matrix instructions of the kernel.
        unexpected_code: by operand route, the matrix instructions of kernels that differ from the expected ones.
        sha256: digest of the binary that ran, by operand route.
        nans: number of NaN results by code.
        negative_zeros: number of results that are −0.
        e_zero_results, e_zero_cases: as in `Tally`.
        orders: if FP8 runs as fp16, the number of rows that each order of the products gets wrong, out of `order_rows` rows,
            all of which distinguish orders.
        seconds: time spent on the instruction.
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
        """Number of results compared."""
        return sum(self.vectors.values())

    def wrong(self) -> int:
        """Number of results that differed."""
        return sum(self.mismatches.values())

    def open_again(self) -> None:
        """Make an instruction that hung, crashed or failed due to be checked again."""
        if self.status in ("hung", "crashed", "failed"):
            self.status, self.detail = "running", ""
