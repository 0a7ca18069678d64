"""Every statement of the rules of RDNA3 and RDNA4, changed: which recorded rows disagree, and how many vectors show it.

    python -m studies.rdna_statements docs/evidence/rdna-statements.md

`make rdna-statements` runs it. It counts the recorded rows that each change of `changed_statements` gets wrong, and the
rows of the default stimulus up to the first that shows it.
"""

import sys
from pathlib import Path

import numpy as np

import golden
from golden.files import write_atomically
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.recording import Recording
from golden.recording_index import held
from golden.stimulus import OperandShape, generate
from mmau.report import markdown
from studies.changed_statements import Change, statements
from studies.pages import made_by

VECTORS, SEED = 20_000, 1
"""Rows of the default stimulus, and its seed."""

INSTRUCTIONS = tuple(
    (arch, name)
    for arch in ("gfx1100", "gfx1201")
    for name in ("v_dot2_f32_f16", "v_dot2_f32_bf16", "v_dot2_f16_f16", "v_dot2_bf16_bf16", "v_wmma_f32_16x16x16_f16_w64")
)


def rows_needed(instruction: golden.Instruction) -> dict[str, int | None]:
    """By changed statement, the rows of the default stimulus up to the first that shows it; None where none does."""
    operands = generate(OperandShape.of_operation(instruction.operation), VECTORS, SEED).operands
    rows = list(zip(operands.a.tolist(), operands.b.tolist(), operands.c.tolist(), strict=True))
    expected = [instruction.operation.step(*row) for row in rows]
    needed: dict[str, int | None] = {}
    for name, change in statements(instruction.operation).items():
        changed = change.of(instruction.operation)
        needed[name] = next(
            (n for n, (row, d) in enumerate(zip(rows, expected, strict=True), start=1) if changed.step(*row) != d), None
        )
    return needed


def disagreeing(recording: Recording, change: Change) -> int:
    """Rows of a recording that a changed statement gets wrong."""
    instruction = recording.instruction
    operation, order = change.of(instruction.operation), instruction.chain.order_over(instruction.k)
    (a, b, c, _, _), d = recording.operands, recording.d
    wrong = 0
    for x, y, z, expected in zip(a[:, order].tolist(), b[:, order].tolist(), c.tolist(), d.tolist(), strict=True):
        for k in range(0, instruction.k, operation.length):
            z = operation.step(x[k : k + operation.length], y[k : k + operation.length], z)
        wrong += z != expected
    return wrong


def recorded(arch: str) -> dict[str, int]:
    """By changed statement, the recorded rows of an architecture that disagree."""
    counts: dict[str, int] = {}
    listed = [each for each in held() if each.entry["arch"] == arch]
    for instruction in golden.instructions(arch):
        if isinstance(instruction.operation, HeadroomFDPA):
            for recording in (each.read() for each in listed if each.entry["instruction"] == instruction.name):
                for name, change in statements(instruction.operation).items():
                    counts[name] = counts.get(name, 0) + disagreeing(recording, change)
    return counts


INTRODUCTION = f"""\
{made_by("rdna-statements")} It has the statements of the rules of RDNA3 and RDNA4 ([numerics.md](../numerics.md),
section 5), each changed by itself. *Recorded rows*: how many of the 10,768 rows of floating point of W7900 and R9700 then
disagree. The other columns: how many of {VECTORS:,} rows of the default [stimulus](../guides/stimulus.md) (seed {SEED}) one
step needs to show the change; *none*: no row does, for the reason below."""

REASONS = """\
Where no row shows a change:

- No floor of e_max for c, or c dropped by its value: with fp16 factors every product lies far above 2^−126, and the floor
  and a subnormal c of fp32 count only where there are no products. In OC-FDPA what the floor cuts is flushed in any case.
- A subnormal c kept, a result not flushed, or flushed otherwise (OC-FDPA, fp16 factors, fp32 result): beside a product other
  than zero such a c is cut off whole, and without one the result is c or what its flush gives."""


def page() -> str:
    """The page as Markdown."""
    parts = ["# What pins the rules of RDNA", INTRODUCTION]
    for arch in ("gfx1100", "gfx1201"):
        names = [name for of, name in INSTRUCTIONS if of == arch]
        needed = {name: rows_needed(golden.instruction(arch, name)) for name in names}
        rows = []
        for statement, count in recorded(arch).items():
            cells = [needed[name].get(statement, "") for name in names]
            rows.append((statement, f"{count:,}", *("**none**" if cell is None else str(cell) for cell in cells)))
        parts.append(
            f"## {arch}\n\n" + markdown.table(("statement changed", "recorded rows", *(f"`{n}`" for n in names)), rows)
        )
    return "\n\n".join(part.strip() for part in (*parts, REASONS)) + "\n"


if __name__ == "__main__":
    np.seterr(all="raise")
    write_atomically(Path(sys.argv[1]), page().encode())
