"""The progress of one instruction in a campaign, and a mismatch of it: one row on which device and model differ, and its
text."""

from dataclasses import dataclass, field
from typing import Any

from golden import Instruction
from golden.stimulus import Operands, rows_of


@dataclass(frozen=True)
class Mismatch:
    """The operands of one row as integers, and the two results.

    Attributes:
        found_in: class or corner of the row before it was simplified.
        a, b, c, scale_a, scale_b: codes; the scales are empty if unscaled.
    """

    found_in: str
    a: list[int]
    b: list[int]
    c: int
    scale_a: list[int]
    scale_b: list[int]
    got: int
    expected: int


def mismatch_of(found_in: str, row: Operands, got: int, expected: int) -> Mismatch:
    """The mismatch of a single row, from its operands as arrays."""
    (r,) = rows_of(row)
    return Mismatch(found_in, list(r.a), list(r.b), r.c, list(r.scale_a), list(r.scale_b), int(got), int(expected))


def text_of(mismatch: Mismatch, instruction: Instruction) -> str:
    """Text of the operands that are not zero, the result and the model's result, each as sign, exponent and significand."""
    i, lines = instruction, [f"{instruction.arch} {instruction.name}, found in {mismatch.found_in}:"]
    for k, (a, b) in enumerate(zip(mismatch.a, mismatch.b, strict=True)):
        if a or b:
            lines += [f"  a[{k}] = {i.a.describe(a)}", f"  b[{k}] = {i.b.describe(b)}"]
    if i.scale is not None:
        for block, (alpha, beta) in enumerate(zip(mismatch.scale_a, mismatch.scale_b, strict=True)):
            lines += [f"  scale_a[{block}] = {i.scale.describe(alpha)}", f"  scale_b[{block}] = {i.scale.describe(beta)}"]
    lines += [f"  c = {i.c.describe(mismatch.c)}", "  (all other products are +0·+0)"]
    lines += [f"  got      {i.d.describe(mismatch.got)}", f"  expected {i.d.describe(mismatch.expected)}"]
    return "\n".join(lines)


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
