"""A mismatch: one row on which device and model differ, and its text."""

from dataclasses import dataclass

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
