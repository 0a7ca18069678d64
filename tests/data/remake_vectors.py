"""Make vectors as those of mma_sim_2_1_1.npz, with fresh inputs: `python -m tests.data.remake_vectors OUT.npz [SEED]`.

Needs the extra `peer` (MMA-Sim 2.1.1 and PyTorch). For each of the 326 instructions of those vectors and each of the six
classes of `golden.stimulus`, in their order, 16 rows come from `numpy.random.default_rng([SEED, instruction, class])`, with
SEED 0 where none is given. MMA-Sim computes d, but for the rows in which it departs from numerics.md
(`tests.golden.mma_sim`):

- where it may lose a NaN or infinite accumulator (GTR-FDPA), d is what numerics.md, section 3, says, computed by the
  exact-rational twin (`tests.golden.twin`);
- where it may err about overflow (E-FDPA) or takes −0 for +0 (FTZ-AddMul), the row is left out and the next one is drawn.
"""

import io
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.files import write_atomically
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from tests.data.load import vector_sets
from tests.golden import mma_sim, twin

MMA_SIM_VERSION = "2.1.1"
ROWS_A_CLASS = 16
KEYS = {"a": "a", "b": "b", "c": "c", "scale_a": "sa", "scale_b": "sb"}
"""Operand to the name of its array."""


def instructions() -> list[golden.Instruction]:
    """Those of the committed vectors, in their order."""
    return [golden.instruction(vectors.arch, vectors.name) for vectors in vector_sets()]


def expected(instruction: golden.Instruction, operands: Operands) -> Any:
    """d [rows] by MMA-Sim, but by the twin where MMA-Sim may lose the accumulator."""
    d = mma_sim.dot(instruction, operands).copy()
    for row in np.flatnonzero(mma_sim.loses_accumulator(instruction, operands)):
        a, b, c = (column[row].tolist() for column in operands[:3])
        d[row] = twin.dot(instruction.operation, a, b, c)
    return d


def class_operands(instruction: golden.Instruction, number: int, label: str, seed: int) -> Operands:
    """The first 16 rows of one class in which MMA-Sim computes what numerics.md says, or the twin stands in for it."""
    draws = GeneratorDraws(np.random.default_rng([seed, number, list(CLASSES).index(label)]))
    drawn = CLASSES[label](OperandShape.of_instruction(instruction), draws, 4 * ROWS_A_CLASS, ())
    left_out = mma_sim.sums_to_overflow_in_double(instruction, drawn) | mma_sim.takes_negative_zero(instruction, drawn)
    kept = np.flatnonzero(~left_out)[:ROWS_A_CLASS]
    if len(kept) < ROWS_A_CLASS:
        raise ValueError(
            f"{instruction.name}: fewer than {ROWS_A_CLASS} of {4 * ROWS_A_CLASS} rows of class {label} are left"
        )
    return drawn.rows(kept)


def vectors_of(instruction: golden.Instruction, number: int, seed: int) -> dict[str, Any]:
    """The arrays of one instruction, by the names that README.md gives them."""
    by_class = [class_operands(instruction, number, label, seed) for label in CLASSES]
    a, b, c, *scales = zip(*by_class, strict=True)
    operands = Operands(*map(np.concatenate, (a, b, c)), *(None if s[0] is None else np.concatenate(s) for s in scales))
    arrays = {f"{number}_{KEYS[key]}": column for key, column in operands._asdict().items() if column is not None}
    return arrays | {f"{number}_d": expected(instruction, operands)}


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: python -m tests.data.remake_vectors OUT.npz [SEED]", file=sys.stderr)
        return 2
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else 0
    if version("mmasim") != MMA_SIM_VERSION:
        print(f"the vectors are those of MMA-Sim {MMA_SIM_VERSION}, installed is {version('mmasim')}", file=sys.stderr)
        return 2
    entries: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for number, instruction in enumerate(instructions()):
        arrays |= vectors_of(instruction, number, seed)
        entries.append(
            {
                "arch": instruction.arch,
                "name": instruction.name,
                "k": instruction.k,
                "per_class": ROWS_A_CLASS,
                "classes": list(CLASSES),
                "seed": seed,
            }
        )
    arrays["index"] = np.frombuffer(json.dumps(entries).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    write_atomically(Path(sys.argv[1]), file.getvalue())
    print(f"{sys.argv[1]}: {len(entries)} instructions, {len(entries) * len(CLASSES) * ROWS_A_CLASS:,} rows, seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
