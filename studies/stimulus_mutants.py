"""How many rows of the stimulus at volume a model's mutants need to be seen.

    python -m studies.stimulus_mutants TABLE.md STORE

For every arithmetic of sm_90 and an instruction of each operation, mutants (`studies.model_mutants`) are computed beside
the model, on rows 0, 1, 2 … of three seeds, until every one differs in a row or the limit is reached. The folder STORE
records finished tasks (`jobs`), so that an interrupted run of the same sources resumes. The exit status is 1 if a mutant is
neither detected nor known to be equivalent.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden import Instruction
from golden.comparison import differing
from golden.files import write_atomically
from golden.native.engine import compute
from golden.stimulus import OperandShape, volume
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.report import markdown
from studies.model_mutants import AnyChain, equivalence, mutants

SOURCES = (*GOLDEN, "studies/model_mutants.py", "studies/stimulus_mutants.py")
"""All that decides a measurement."""

LIMIT = 1_000_000
"""Rows after which a mutant counts as not seen."""

SEEDS = (1, 2, 3)

FIRST_BATCH, LARGEST_BATCH = 1 << 10, 1 << 15
"""Rows computed at once: few at first, for most mutants are seen early."""

OTHERS = (
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"),
    ("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"),
    ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    ("gfx942", "v_mfma_f32_16x16x4_f32"),
    ("gfx942", "v_mfma_f32_16x16x8_xf32"),
    ("gfx942", "v_mfma_f32_16x16x16_f16"),
    ("gfx942", "v_mfma_f32_16x16x16_bf16"),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
    ("gfx90a", "v_mfma_f32_16x16x16f16"),
    ("gfx908", "v_mfma_f32_16x16x16f16"),
    ("gfx1100", "v_wmma_f32_16x16x16_f16_w32"),
    ("gfx1100", "v_wmma_bf16_16x16x16_bf16_w32"),
    ("gfx1100", "v_dot2_f16_f16"),
    ("gfx1201", "v_wmma_f32_16x16x16_f16_w32"),
    ("gfx1201", "v_wmma_bf16_16x16x16_bf16_w64"),
    ("gfx1201", "v_dot2_f16_f16"),
)
"""Beside sm_90: together all operations of GPUs on floats."""


def measured_instructions() -> list[Instruction]:
    """One instruction for each arithmetic of sm_90, then `OTHERS`."""
    seen: dict[tuple[AnyChain, OperandShape], Instruction] = {}
    for instruction in golden.instructions("sm_90"):
        seen.setdefault((instruction.chain, OperandShape.of_instruction(instruction)), instruction)
    return [*seen.values(), *(golden.instruction(*other) for other in OTHERS)]


def rows_needed(instruction: Instruction, seed: int, limit: int) -> dict[str, int | None]:
    """Mutant to the number of rows, from row 0 on, up to the first row that shows it; None if no row does."""
    shape, chain = OperandShape.of_instruction(instruction), instruction.chain
    live = dict(mutants(chain, shape))
    needed: dict[str, int | None] = dict.fromkeys(live)
    for name in [name for name in live if equivalence(chain, shape, name)]:
        del live[name]
    first, size = 0, FIRST_BATCH
    while live and first < limit:
        rows = volume.rows(shape, seed, first, min(size, limit - first)).operands
        expected = compute(chain, *rows)
        for name, model in list(live.items()):
            differs = differing(model(rows), expected, chain.operation)
            if differs.any():
                needed[name] = first + int(np.argmax(differs)) + 1
                del live[name]
        first, size = first + size, min(2 * size, LARGEST_BATCH)
    return needed


def agrees_with_equivalences(instruction: Instruction, seed: int, rows: int) -> bool:
    """Whether mutants that are called equivalent give the model's results on so many rows."""
    shape, chain = OperandShape.of_instruction(instruction), instruction.chain
    operands = volume.rows(shape, seed, 0, rows).operands
    expected = compute(chain, *operands)
    same = (model for name, model in mutants(chain, shape) if equivalence(chain, shape, name))
    return not any(differing(model(operands), expected, chain.operation).any() for model in same)


def measured(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one task: the most rows that each mutant needs with any of the seeds, and why others need none."""
    instruction = golden.instruction(content["arch"], content["name"])
    shape, runs = OperandShape.of_instruction(instruction), [rows_needed(instruction, seed, LIMIT) for seed in SEEDS]
    reasons = {name: equivalence(instruction.chain, shape, name) for name in runs[0]}
    if not agrees_with_equivalences(instruction, SEEDS[0], LIMIT // 10):
        raise ValueError(f"{instruction.name}: a mutant that should be equivalent gives another result")
    rows = {name: [run[name] for run in runs] for name, reason in reasons.items() if reason is None}
    return {
        "rows": {name: None if None in each else max(filter(None, each)) for name, each in rows.items()},
        "equivalent": {name: reason for name, reason in reasons.items() if reason is not None},
    }


def page(results: dict[str, dict[str, Any]]) -> str:
    """The page as Markdown."""
    reasons = list(dict.fromkeys(reason for result in results.values() for reason in result["equivalent"].values()))
    letters = {reason: chr(ord("a") + place) for place, reason in enumerate(reasons)}
    rows = []
    for title, result in results.items():
        needs = sorted(result["rows"].items(), key=lambda item: -(item[1] or LIMIT + 1))
        cells = ", ".join(f"{name}: {'**none**' if needed is None else f'{needed:,}'}" for name, needed in needs)
        same = ", ".join(f"{name} ({letters[reason]})" for name, reason in result["equivalent"].items())
        arch, _, name = title.partition(":")
        rows.append((f"{arch} `{name}`", golden.instruction(arch, name).operation.name, cells, same))
    return markdown.document(
        "What the stimulus at volume sees",
        INTRODUCTION,
        markdown.table(("instruction", "operation", "rows needed", "equivalent"), rows),
        "Equivalent mutants give the model's results on all operands:",
        markdown.bullets(f"({letter}) {reason}." for reason, letter in letters.items()),
    )


INTRODUCTION = f"""\
`make stimulus-mutants` measured this (`studies/stimulus_mutants.py`): each mutant of a model, and how many
rows of the [stimulus at volume](../guides/stimulus.md#at-volume) it needs to be seen, the most with any of the
seeds {", ".join(map(str, SEEDS))}. A mutant is not looked for beyond {LIMIT:,} rows. It is a key one off,
another rounding, another truncation at alignment (`aligned`), a key of units of one's own
([numerics.md](../numerics.md), section 13), steps of other lengths, or another order of the products."""


def measure(written: Path, store_folder: Path, instructions: Sequence[Instruction]) -> int:
    """Measure what is not in the store yet, and write the table.

    Returns:
        Exit status: 1 where a measurement failed, or a mutant is neither seen nor known to be equivalent.
    """
    depends = {"sources": digest_of_sources(SOURCES)}
    tasks = [Task(f"{i.arch}:{i.name}", {"arch": i.arch, "name": i.name}, depends) for i in instructions]
    with Store(store_folder, "mutants of models") as store:
        records = run(tasks, measured, store, retry=True, unit="instructions")
    failed = [f"{record.task.name}: {record.message}" for record in records if not record.done]
    results = {record.task.name: record.result for record in records if record.done}
    unseen = [
        f"{title} {name}" for title, result in results.items() for name, rows in result["rows"].items() if rows is None
    ]
    for line in failed:
        print(line)
    print(f"{len(unseen)} mutants neither seen nor known to be equivalent: {', '.join(unseen) or 'none'}")
    if not failed:
        write_atomically(written, page(results).encode())
    return int(bool(failed or unseen))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all instructions."""
    parser = argparse.ArgumentParser(prog="mutants", description="How many rows a model's mutants need to be seen.")
    parser.add_argument("table", type=Path, help="the file to write")
    parser.add_argument("store", type=Path, help="the folder of finished tasks")
    options = parser.parse_args(arguments)
    return program("mutants", lambda: measure(options.table, options.store, measured_instructions()))


if __name__ == "__main__":
    sys.exit(main())
