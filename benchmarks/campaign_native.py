"""The long proof, native against the reference: `python -m benchmarks.campaign_native STATE.json [VECTORS]`.

Half of VECTORS (default 10^8) go to the distinct arithmetics of the catalogue in turn, half to random units, chunk by
chunk on all cores. STATE.json keeps what is done, so that an interrupted run goes on where it was. Exit status 1 at a
difference.
"""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import golden
from golden.files import write_atomically
from golden.stimulus import CLASSES, OperandShape
from tests.golden.native_rows import class_rows, first_difference
from tests.golden.rows import unit
from tests.golden.test_native import distinct_arithmetic

ROWS_A_CLASS = 500
VECTORS = 10**8

CHOICES: dict[str, tuple[Any, ...]] = {
    "L": (1, 2, 3, 4, 5, 8, 16, 32),
    "F": (1, 8, 13, 22, 23, 24, 25, 26, 27, 35, 57, 100),
    "F2": (1, 23, 30, 31, 32, 57, 100),
    "rho": tuple(golden.conversion.CONVERSIONS),
    "e_zero": (-1024, -139, -133, -132, -21, -14, 0, 40),
    "truncation": ("RZ", "RZ", "RD"),
    "P": (1, 2, 4, 8),
    "K_block": (1, 2, 3, 4, 8, 16, 32),
    "G": (1, 2, 4, 16),
    "scale": ("ue8m0", "ue4m3"),
    "a": ("tf32", "bf16", "fp16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "fp32", "fp64"),
    "c": ("fp32", "fp32", "fp16", "bf16", "fp64"),
}
"""Values of a random unit's keys; combinations that golden refuses are drawn again."""


def random_unit(seed: int) -> golden.Unit:
    """A unit with random keys."""
    rng = Random(seed)
    while True:
        cls = golden.OPERATIONS[rng.choice(list(golden.OPERATIONS))]
        keys = {key: rng.choice(CHOICES["a" if key == "b" else key]) for key in cls.unit_keys()}
        if rng.randrange(2):
            keys["b"] = keys["a"]
        try:
            return unit(cls(**keys))
        except ValueError:
            continue


def difference(chunk: int) -> str:
    """Where the chunk's model differs between the engines, or nothing: even chunks walk the catalogue, odd are units."""
    golden.set_threads(1)
    if chunk % 2:
        model: Any = random_unit(chunk)
        shape = OperandShape.of_operation(model.operation)
    else:
        catalogue = distinct_arithmetic()
        model = catalogue[chunk // 2 % len(catalogue)]
        shape = OperandShape.of_instruction(model)
    found = first_difference(model, class_rows(shape, ROWS_A_CLASS, seed=chunk))
    return f"chunk {chunk}: {model.name} {model.operation}: {found}" if found else ""


def main() -> int:
    state = Path(sys.argv[1])
    rows = ROWS_A_CLASS * len(CLASSES)
    chunks = -(-int(sys.argv[2] if len(sys.argv) > 2 else VECTORS) // rows)
    done = json.loads(state.read_text(encoding="utf-8"))["chunks"] if state.exists() else 0
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers) as pool:
        while done < chunks:
            batch = range(done, min(done + 8 * workers, chunks))
            found = [text for text in pool.map(difference, batch) if text]
            if found:
                print("\n" + "\n".join(found))
                return 1
            done = batch.stop
            write_atomically(state, json.dumps({"chunks": done, "vectors": done * rows, "differing": 0}).encode())
            print(f"\r{done * rows:,} of {chunks * rows:,} vectors, 0 differ", end="", flush=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
