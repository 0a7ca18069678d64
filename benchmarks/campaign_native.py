"""The campaign, native engine against reference: `python -m benchmarks.campaign_native OUTCOME.json STORE [VECTORS]`.

Half of VECTORS (default 10^8) go to the distinct arithmetics of the catalogue in turn, half to random units, chunk by chunk
on all cores. Every d is compared bit for bit, codes of NaN too.

Each task's result is kept in the folder STORE as it comes (`jobs`), so that an interrupted campaign goes on where it was;
what other sources, another library or other versions have computed does not count. OUTCOME.json is written at the end: what
ran (`jobs.provenance`), how many rows of which operation, arithmetic and class, and every chunk that differed with its
first row. Exit status: 0, complete and no difference; 1, something differed or could not be compared; 2, refused; 128 +
signal, interrupted.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import golden
from golden.conversion import CONVERSIONS, conversions_to
from golden.files import check_output, write_atomically
from golden.operations import FMA
from golden.stimulus import CLASSES, OperandShape
from jobs import Engine, Record, Store, Task, program
from jobs import run as run_tasks
from jobs.provenance import library_is_older_than, library_path, provenance
from tests.golden.native_rows import class_rows, compare
from tests.golden.rows import distinct_arithmetic, unit

SEED = 0
ROWS_A_CLASS = 500
ROWS_A_CHUNK = ROWS_A_CLASS * len(CLASSES)
VECTORS = 10**8
CHUNKS_A_TASK = 16
"""Seconds of work, which is what an interruption loses."""

SECONDS_A_TASK = 1800.0
"""Some hundred times what a task takes: one that is not done by then never ends."""

MAY_CHANGE = ("commit", "platform")
"""Of the provenance, what a campaign may go on with: other commits of the same sources, another release of the system."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "L": (1, 2, 3, 4, 5, 8, 16, 32),
    "F": (1, 8, 13, 22, 23, 24, 25, 26, 27, 35, 57, 100),
    "F2": (1, 23, 30, 31, 32, 57, 100),
    "rho": tuple(CONVERSIONS),
    "e_zero": (-1024, -139, -133, -132, -21, -14, 0, 40),
    "truncation": ("RZ", "RZ", "RD", "RO"),
    "sticky": (False, False, True),
    "flush_inputs": (False, False, True),
    "flush_results": (False, False, True),
    "overflow": ("infinity", "infinity", "saturate", "by-mode"),
    "P": (1, 2, 4, 8),
    "K_block": (1, 2, 3, 4, 8, 16, 32),
    "G": (1, 2, 4, 16),
    "scale": ("ue8m0", "ue4m3"),
    "a": ("tf32", "bf16", "fp16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e4m3ieee"),
    "c": ("fp32", "fp32", "fp16", "bf16"),
}
"""Values of a random unit's keys; combinations that golden refuses are drawn again."""


class Outcome(NamedTuple):
    """What a chunk gave.

    Attributes:
        operation: name of the operation.
        arithmetic: the instruction that stands for its arithmetic; None for a random unit.
        difference: the differing chunk as OUTCOME.json shows it, or None.
    """

    operation: str
    arithmetic: str | None
    difference: dict[str, Any] | None


def random_unit(seed: int) -> golden.Unit:
    """A unit with random keys."""
    rng = Random(seed)
    while True:
        cls = golden.OPERATIONS[rng.choice(list(golden.OPERATIONS))]
        keys = {key: rng.choice(CHOICES["a" if key == "b" else key]) for key in cls.unit_keys()}
        if rng.randrange(2):
            keys["b"] = keys["a"]
        if cls is FMA:
            d = golden.FORMATS[rng.choice(("fp16", "bf16", "fp32", "fp64"))]
            keys |= {"a": d, "b": d, "c": d, "rho": rng.choice(conversions_to(d))}
        try:
            return unit(cls(**keys))
        except ValueError:
            continue


def run_chunk(chunk: int) -> Outcome:
    """Compare the rows of one chunk: even chunks walk the catalogue, odd ones are random units."""
    model: golden.Instruction | golden.Unit
    if chunk % 2:
        model, arithmetic = random_unit(chunk), None
        shape = OperandShape.of_operation(model.operation)
    else:
        catalogue = distinct_arithmetic()
        model = catalogue[chunk // 2 % len(catalogue)]
        arithmetic = f"{model.arch} {model.name}"
        shape = OperandShape.of_instruction(model)
    found = compare(model, class_rows(shape, ROWS_A_CLASS, seed=chunk))
    difference = None if found is None else {
        "chunk": chunk, "arithmetic": arithmetic, "operation": model.operation.name,
        "parameters": model.operation.parameters(), **found._asdict(),
    }  # fmt: skip
    return Outcome(model.operation.name, arithmetic, difference)


def run_chunks(content: dict[str, Any], folder: Path) -> list[list[Any]]:
    """The work of a task: its chunks' outcomes."""
    golden.set_threads(1)
    first = content["first_chunk"]
    return [list(run_chunk(chunk)) for chunk in range(first, first + content["chunks"])]


def tasks(vectors: int, made_with: dict[str, str]) -> list[Task]:
    """All chunks that so many rows take."""
    chunks = -(-vectors // ROWS_A_CHUNK)
    depends = {key: value for key, value in made_with.items() if key not in MAY_CHANGE}
    each = [(first, min(CHUNKS_A_TASK, chunks - first)) for first in range(0, chunks, CHUNKS_A_TASK)]
    return [
        Task(
            f"chunks {first} to {first + count - 1}",
            {"seed": SEED, "rows_a_class": ROWS_A_CLASS, "first_chunk": first, "chunks": count},
            depends,
        )
        for first, count in each
    ]


def outcome_of(records: Sequence[Record], made_with: dict[str, str]) -> dict[str, Any]:
    """What OUTCOME.json holds."""
    chunks = [Outcome(*each) for record in records if record.done for each in record.result]
    by_operation = {name: [chunk for chunk in chunks if chunk.operation == name] for name in golden.OPERATIONS}
    by_arithmetic: dict[str, int] = {}
    for chunk in chunks:
        if chunk.arithmetic is not None:
            by_arithmetic[chunk.arithmetic] = by_arithmetic.get(chunk.arithmetic, 0) + ROWS_A_CHUNK
    differences = [chunk.difference for chunk in chunks if chunk.difference is not None]
    return {
        "what": "native engine against reference, every d bit for bit, codes of NaN too",
        "seed": SEED,
        "made_with": made_with,
        "updated": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "worker_seconds": round(sum(record.seconds for record in records), 1),
        "wanted": ROWS_A_CHUNK * sum(chunks_of(record.task) for record in records),
        "complete": all(record.done for record in records),
        "chunks": len(chunks),
        "rows": ROWS_A_CHUNK * len(chunks),
        "rows_differing": sum(difference["differing"] for difference in differences),
        "rows_by_operation_and_class": {
            name: dict.fromkeys(CLASSES, ROWS_A_CLASS * len(each)) for name, each in by_operation.items() if each
        },
        "rows_by_arithmetic": by_arithmetic,
        "random_units": {
            name: count for name, each in by_operation.items() if (count := sum(chunk.arithmetic is None for chunk in each))
        },
        "differences": differences,
        "not_done": {record.task.name: f"{record.status}: {record.message}" for record in records if not record.done},
    }


def chunks_of(task: Task) -> int:
    """How many chunks a task has."""
    count: int = task.content["chunks"]
    return count


def run(path: Path, folder: Path, made_with: dict[str, str], vectors: int, engine: Engine | None = None) -> dict[str, Any]:
    """Compare so many rows, as far as the store does not know, and write the outcome; the outcome."""
    with Store(folder, "campaign-native") as store:
        records = run_tasks(
            tasks(vectors, made_with), run_chunks, store, engine=engine, seconds=SECONDS_A_TASK,
            retry=True, unit="rows", amount=lambda task: ROWS_A_CHUNK * chunks_of(task),
        )  # fmt: skip
    outcome = outcome_of(records, made_with)
    write_atomically(path, json.dumps(outcome, indent=1, ensure_ascii=False).encode() + b"\n")
    return outcome


def main() -> int:
    if len(sys.argv) not in (3, 4) or not all(word.isdecimal() and int(word) for word in sys.argv[3:]):
        print("usage: python -m benchmarks.campaign_native OUTCOME.json STORE [VECTORS]", file=sys.stderr)
        return 2
    path, folder, vectors = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else VECTORS
    check_output(path)
    library = library_path()
    changed = library_is_older_than(library) if library else []
    if changed:
        raise ValueError(f"{changed[0]} was changed after the native library was built: `make .venv/.dev` builds it again")
    outcome = run(path, folder, provenance(), vectors)
    for difference in outcome["differences"]:
        print(json.dumps(difference, ensure_ascii=False))
    return int(outcome["rows_differing"] > 0 or not outcome["complete"])


if __name__ == "__main__":
    sys.exit(program("campaign", main))
