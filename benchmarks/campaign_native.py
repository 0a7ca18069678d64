"""The campaign, native engine against reference: `python -m benchmarks.campaign_native STATE.json [VECTORS]`.

Half of VECTORS (default 10^8) go to the distinct arithmetics of the catalogue in turn, half to random units, chunk by chunk
on all cores. Every d is compared bit for bit, codes of NaN too.

STATE.json is the outcome: what ran (`benchmarks.provenance`), how many rows of which operation, arithmetic and class,
and every chunk that differed with its first row. It is written, whole, after every batch of chunks, so that an interrupted
run goes on where it was, but never with other sources, another library or other versions. Exit status: 0, complete and no
difference; 1, complete and something differed; 2, refused; 128 + signal, interrupted.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn

import golden
from benchmarks.provenance import library_is_older_than, library_path, provenance
from golden.conversion import CONVERSIONS, conversions_to
from golden.files import write_atomically
from golden.operations import FMA
from golden.stimulus import CLASSES, OperandShape
from tests.golden.native_rows import class_rows, compare
from tests.golden.rows import distinct_arithmetic, unit

SEED = 0
ROWS_A_CLASS = 500
ROWS_A_CHUNK = ROWS_A_CLASS * len(CLASSES)
VECTORS = 10**8
CHUNKS_A_BATCH = 32
"""For each worker: seconds of work, which is what an interruption can lose."""

SECONDS_A_LINE = 30
"""How often progress is told where the output is no terminal."""

MAY_CHANGE = ("commit", "platform")
"""Of the provenance, what a run may go on with: other commits of the same sources, another release of the system."""

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
        difference: the differing chunk as STATE.json keeps it, or None.
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


def new_state(made_with: dict[str, str]) -> dict[str, Any]:
    return {
        "what": "native engine against reference, every d bit for bit, codes of NaN too",
        "seed": SEED, "made_with": made_with, "started": now(), "updated": now(), "seconds": 0.0,
        "wanted": 0, "complete": False, "chunks": 0, "rows": 0, "rows_differing": 0,
        "rows_by_operation_and_class": {}, "rows_by_arithmetic": {}, "random_units": {}, "differences": [],
    }  # fmt: skip


def add(state: dict[str, Any], outcome: Outcome) -> None:
    """Count a chunk."""
    state["chunks"] += 1
    state["rows"] += ROWS_A_CHUNK
    by_class = state["rows_by_operation_and_class"].setdefault(outcome.operation, dict.fromkeys(CLASSES, 0))
    for name in by_class:
        by_class[name] += ROWS_A_CLASS
    if outcome.arithmetic is None:
        state["random_units"][outcome.operation] = state["random_units"].get(outcome.operation, 0) + 1
    else:
        by_arithmetic = state["rows_by_arithmetic"]
        by_arithmetic[outcome.arithmetic] = by_arithmetic.get(outcome.arithmetic, 0) + ROWS_A_CHUNK
    if outcome.difference is not None:
        state["rows_differing"] += outcome.difference["differing"]
        state["differences"].append(outcome.difference)


def read_state(path: Path, made_with: dict[str, str]) -> dict[str, Any]:
    """The state to go on from.

    Raises:
        ValueError: it is no state, or was made with something else than what would go on.
    """
    if not path.exists():
        return new_state(made_with)
    try:
        state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before = state["made_with"] | {"seed": state["seed"]}
        missing = new_state(made_with).keys() - state.keys()
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no state of a campaign: {error}") from error
    if missing:
        raise ValueError(f"{path} is no state of a campaign: {', '.join(sorted(missing))} missing")
    wanted = made_with | {"seed": SEED}
    for key in wanted:
        if key not in MAY_CHANGE and before.get(key) != wanted[key]:
            raise ValueError(
                f"{path} was made with {key} {before.get(key)}, now it is {wanted[key]}: results of different versions are "
                "not mixed; name another file, or remove this one to start again"
            )
    return state


def write_state(path: Path, state: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(state, indent=1, ensure_ascii=False).encode() + b"\n")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


class Progress:
    """One line that is written over on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        self.on_terminal = sys.stdout.isatty()
        self.told = 0.0

    def tell(self, state: dict[str, Any], last: bool = False) -> None:
        if not (self.on_terminal or last or time.monotonic() - self.told >= SECONDS_A_LINE):
            return
        self.told = time.monotonic()
        rate = state["rows"] / max(state["seconds"], 1e-9)
        text = f"{state['rows']:,} of {state['wanted']:,} rows, {state['rows_differing']:,} differ, {rate:,.0f} rows/s"
        print(f"\r{text}" if self.on_terminal else text, end="" if self.on_terminal and not last else "\n", flush=True)


def end_by_signal(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


@contextmanager
def worker_pool() -> Iterator[ProcessPoolExecutor]:
    """Workers that leave signals to this process; chunks that have not begun are dropped when it ends."""
    pool = ProcessPoolExecutor(len(os.sched_getaffinity(0)), initializer=start_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    golden.set_threads(1)


def run(path: Path, state: dict[str, Any], vectors: int) -> None:
    """Go on until so many rows are compared; the state is written after every batch."""
    chunks = -(-vectors // ROWS_A_CHUNK)
    state |= {"wanted": chunks * ROWS_A_CHUNK, "complete": state["chunks"] >= chunks}
    progress = Progress()
    size = CHUNKS_A_BATCH * len(os.sched_getaffinity(0))
    with worker_pool() as pool:
        while state["chunks"] < chunks:
            start = time.monotonic()
            for outcome in pool.map(run_chunk, range(state["chunks"], min(state["chunks"] + size, chunks))):
                add(state, outcome)
            state["seconds"] = round(state["seconds"] + time.monotonic() - start, 1)
            state |= {"updated": now(), "complete": state["chunks"] >= chunks}
            write_state(path, state)
            progress.tell(state)
    progress.tell(state, last=True)


def main() -> int:
    if len(sys.argv) not in (2, 3) or not all(word.isdecimal() and int(word) for word in sys.argv[2:]):
        print("usage: python -m benchmarks.campaign_native STATE.json [VECTORS]", file=sys.stderr)
        return 2
    path, vectors = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else VECTORS
    try:
        library = library_path()
        changed = library_is_older_than(library) if library else []
        if changed:
            raise ValueError(
                f"{changed[0]} was changed after the native library was built: `make .venv/.dev` builds it again"
            )
        state = read_state(path, provenance())
    except (ValueError, OSError) as error:
        print(f"campaign: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, end_by_signal)
    signal.signal(signal.SIGTERM, end_by_signal)
    run(path, state, vectors)
    for difference in state["differences"]:
        print(json.dumps(difference, ensure_ascii=False))
    return int(state["rows_differing"] > 0)


if __name__ == "__main__":
    sys.exit(main())
