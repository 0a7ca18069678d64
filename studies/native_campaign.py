"""The campaign, native engine against reference:
`python -m studies.native_campaign OUTCOME.json STORE [VECTORS [OPERATION …]]`.

Half of VECTORS (default 10^8) go to the distinct arithmetics of the catalogue in turn, half to random units, chunk by chunk
on all cores, or on the workers of the Dask scheduler that MMAU_SCHEDULER names. Every d is compared bit for bit, codes of
NaN too.

Each task's result is recorded in the folder STORE when the task ends (`jobs`), so that an interrupted campaign resumes;
results of other sources, another library or other versions do not count. OUTCOME.json is written at the end: the sources and
versions (`mmau.jobs.provenance`), the rows by operation, arithmetic and class, and every chunk that differed with its
first row. With operations named, only these run, and OUTCOME.json keeps the entries of the others; each operation has the
date and versions of its run. Exit status: 0, complete and no difference; 1, a chunk differed or could not be
compared; 2, refused; 128 + signal, interrupted.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import golden
from golden.conversion import CONVERSIONS, TWO_STEP_CONVERSIONS, conversions_to
from golden.files import check_output, write_atomically
from golden.operations import FMA, IDPA
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.idpa import BEYOND_RANGE, COMBINATIONS
from golden.stimulus import CLASSES, OperandShape
from mmau.jobs import Engine, Record, Store, Task, engine_for, program
from mmau.jobs import run as run_tasks
from mmau.jobs.provenance import library_is_older_than, library_path, provenance
from studies.analysis.distinct_arithmetics import distinct_arithmetic
from studies.native_difference import class_rows, compare

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
    "h": (0, 1, 2, 3, 8),
    "nan": NANS,
    "zero": ZEROS,
    "rho": (*CONVERSIONS, *TWO_STEP_CONVERSIONS),
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


OF_IDPA: dict[str, tuple[Any, ...]] = {
    "a": ("int8", "uint8", "int4", "uint4", "b1"),
    "combination": COMBINATIONS,
    "c": ("int32",),
    "L": CHOICES["L"],
    "overflow": BEYOND_RANGE,
}
"""The same of its keys."""


class Outcome(NamedTuple):
    """The result of a chunk.

    Attributes:
        operation: name of the operation.
        arithmetic: the instruction that stands for its arithmetic; None for a random unit.
        difference: the differing chunk as OUTCOME.json shows it, or None.
    """

    operation: str
    arithmetic: str | None
    difference: dict[str, Any] | None


def random_unit(seed: int, names: Sequence[str] = ()) -> golden.Unit:
    """A unit with random keys, of one of these operations; of any operation without names."""
    rng = Random(seed)
    while True:
        cls = golden.OPERATIONS[rng.choice(names or list(golden.OPERATIONS))]
        choices = OF_IDPA if cls is IDPA else CHOICES
        keys = {key: rng.choice(choices["a" if key == "b" else key]) for key in cls.unit_keys()}
        if rng.randrange(2):
            keys["b"] = keys["a"]
        if cls is FMA:
            d = golden.FORMATS[rng.choice(("fp16", "bf16", "fp32", "fp64"))]
            keys |= {"a": d, "b": d, "c": d, "rho": rng.choice(conversions_to(d))}
        try:
            return golden.Unit(name="random", operation=cls(**keys))
        except ValueError:
            continue


def run_chunk(chunk: int, names: Sequence[str] = ()) -> Outcome:
    """Compare the rows of one chunk: even chunks walk the catalogue, odd ones are random units; of these operations alone
    where any is named."""
    model: golden.Instruction | golden.Unit
    if chunk % 2:
        model, arithmetic = random_unit(chunk, names), None
        shape = OperandShape.of_operation(model.operation)
    else:
        catalogue = [each for each in distinct_arithmetic() if not names or each.operation.name in names]
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
    first, named = content["first_chunk"], [content["operations"]] if content["operations"] else []
    return [list(run_chunk(chunk, *named)) for chunk in range(first, first + content["chunks"])]


def tasks(vectors: int, made_with: dict[str, str], names: Sequence[str] = ()) -> list[Task]:
    """All chunks that so many rows take, of these operations; of all operations without names."""
    chunks = -(-vectors // ROWS_A_CHUNK)
    depends = {key: value for key, value in made_with.items() if key not in MAY_CHANGE}
    each = [(first, min(CHUNKS_A_TASK, chunks - first)) for first in range(0, chunks, CHUNKS_A_TASK)]
    fixed = {"seed": SEED, "rows_a_class": ROWS_A_CLASS, "operations": list(names)}
    return [
        Task(f"chunks {first} to {first + count - 1}", {**fixed, "first_chunk": first, "chunks": count}, depends)
        for first, count in each
    ]


def outcome_of(records: Sequence[Record], made_with: dict[str, str]) -> dict[str, Any]:
    """The contents of OUTCOME.json."""
    chunks = [Outcome(*each) for record in records if record.done for each in record.result]
    by_operation = {name: [chunk for chunk in chunks if chunk.operation == name] for name in golden.OPERATIONS}
    differences = [chunk.difference for chunk in chunks if chunk.difference is not None]
    return {
        "what": "native engine against reference, every d bit for bit, codes of NaN too",
        "seed": SEED,
        "wanted": ROWS_A_CHUNK * sum(chunks_of(record.task) for record in records),
        "complete": all(record.done for record in records),
        "chunks": len(chunks),
        "rows": ROWS_A_CHUNK * len(chunks),
        "rows_differing": sum(difference["differing"] for difference in differences),
        "operations": {name: _row(each, made_with) for name, each in by_operation.items() if each},
        "differences": differences,
        "not_done": {record.task.name: f"{record.status}: {record.message}" for record in records if not record.done},
    }


def _row(chunks: Sequence[Outcome], made_with: dict[str, str]) -> dict[str, Any]:
    """The text on one operation."""
    arithmetic = Counter(chunk.arithmetic for chunk in chunks if chunk.arithmetic is not None)
    return {
        "rows": ROWS_A_CHUNK * len(chunks),
        "updated": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "made_with": made_with,
        "rows_by_class": dict.fromkeys(CLASSES, ROWS_A_CLASS * len(chunks)),
        "rows_by_arithmetic": {name: ROWS_A_CHUNK * count for name, count in arithmetic.items()},
        "random_units": sum(chunk.arithmetic is None for chunk in chunks),
    }


def merged(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """An outcome with some operations run again, or for the first time: they take the place of what `before` says of them.

    Raises:
        ValueError: `before` is not complete or something differed, or is no outcome.
    """
    try:
        is_clean = before["complete"] and not before["rows_differing"]
        kept = {name: row for name, row in before["operations"].items() if name not in after["operations"]}
        rows = sum(row["rows"] for row in kept.values())
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"OUTCOME.json must hold the outcome of a campaign: {error!r}; name no operation to make it anew"
        ) from error
    if not is_clean:
        raise ValueError("operations are added to an outcome that is complete and without a difference, got another one")
    sums = {key: rows // (ROWS_A_CHUNK if key == "chunks" else 1) + after[key] for key in ("wanted", "chunks", "rows")}
    return {**after, **sums, "operations": {**kept, **after["operations"]}}


def chunks_of(task: Task) -> int:
    """How many chunks a task has."""
    count: int = task.content["chunks"]
    return count


def run(
    path: Path,
    folder: Path,
    made_with: dict[str, str],
    vectors: int,
    engine: Engine | None = None,
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Compare so many rows, except those in the store; write and return the outcome.

    Args:
        names: operations that are added to the outcome; without names all operations run, and the outcome is made anew.
    """
    before = json.loads(path.read_text(encoding="utf-8")) if names else None
    with Store(folder, "campaign-native") as store:
        records = run_tasks(
            tasks(vectors, made_with, names), run_chunks, store, engine=engine, seconds=SECONDS_A_TASK,
            retry=True, unit="rows", amount=lambda task: ROWS_A_CHUNK * chunks_of(task),
        )  # fmt: skip
    outcome = outcome_of(records, made_with)
    if before is not None:
        outcome = merged(before, outcome)
    write_atomically(path, json.dumps(outcome, indent=1, ensure_ascii=False).encode() + b"\n")
    return outcome


def main() -> int:
    words, names = sys.argv[1:4], sys.argv[4:]
    is_number = all(word.isdecimal() and int(word) for word in words[2:])
    if len(words) < 2 or not is_number or not set(names) <= set(golden.OPERATIONS):
        print("usage: python -m studies.native_campaign OUTCOME.json STORE [VECTORS [OPERATION …]]", file=sys.stderr)
        return 2
    path, folder, vectors = Path(words[0]), Path(words[1]), int(words[2]) if len(words) == 3 else VECTORS
    check_output(path)
    library = library_path()
    changed = library_is_older_than(library) if library else []
    if changed:
        raise ValueError(f"{changed[0]} was changed after the native library was built: `make .venv/.dev` builds it again")
    outcome = run(path, folder, provenance(), vectors, engine_for(None), names)
    for difference in outcome["differences"]:
        print(json.dumps(difference, ensure_ascii=False))
    return int(outcome["rows_differing"] > 0 or not outcome["complete"])


if __name__ == "__main__":
    sys.exit(program("campaign", main))
