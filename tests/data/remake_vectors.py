"""Make vectors as those of the folder mma-sim, with fresh inputs: `python -m tests.data.remake_vectors FOLDER [SEED]`.

Needs the extra `peer` (MMA-Sim 2.1.1 and PyTorch). For each of the 326 instructions of those vectors and each of the six
classes of `golden.stimulus`, in their order, 16 rows come from `numpy.random.default_rng([SEED, instruction, class])`, with
SEED 0 where none is given. MMA-Sim computes d, but for the rows in which it departs from numerics.md
(`tests.data.mma_sim`):

- where it may lose a NaN or infinite accumulator (GTR-FDPA), d is what numerics.md, section 3, says, computed by the
  exact-rational twin (`tests.twin.twin`);
- where it may err about overflow (E-FDPA) or takes −0 for +0 (FTZ-AddMul), the row is left out and the next one is drawn.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.recordings.recording import OWN, VERSION, Header, Recording
from golden.recordings.recording_index import write
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from tests.data import mma_sim
from tests.data.load import vector_sets
from tests.twin import twin

MMA_SIM_VERSION = "2.1.1"
ROWS_A_CLASS = 16


def instructions() -> list[golden.Instruction]:
    """Those of the committed vectors, in their order."""
    return [vectors.instruction for vectors in vector_sets()]


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
    drawn = CLASSES[label](OperandShape.of(instruction), draws, 4 * ROWS_A_CLASS, ())
    left_out = mma_sim.sums_to_overflow_in_double(instruction, drawn) | mma_sim.takes_negative_zero(instruction, drawn)
    kept = np.flatnonzero(~left_out)[:ROWS_A_CLASS]
    if len(kept) < ROWS_A_CLASS:
        raise ValueError(
            f"{instruction.name}: fewer than {ROWS_A_CLASS} of {4 * ROWS_A_CLASS} rows of class {label} are left"
        )
    return drawn.rows(kept)


def vectors_of(instruction: golden.Instruction, number: int, seed: int) -> Recording:
    """The vectors of one instruction, in equal runs of the classes."""
    by_class = [class_operands(instruction, number, label, seed) for label in CLASSES]
    a, b, c, *scales = zip(*by_class, strict=True)
    operands = Operands(*map(np.concatenate, (a, b, c)), *(None if s[0] is None else np.concatenate(s) for s in scales))
    header = Header(
        version=VERSION, arch=instruction.arch, instruction=instruction.name, kind="computed", seed=seed, who=OWN,
        device=f"MMA-Sim {MMA_SIM_VERSION}", names=tuple(CLASSES), licence="Apache-2.0",
        source=f"PyPI mmasim {MMA_SIM_VERSION}",
    )  # fmt: skip
    label = np.repeat(np.arange(len(CLASSES), dtype=np.uint8), ROWS_A_CLASS)
    return Recording(header, operands, expected(instruction, operands), label)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: python -m tests.data.remake_vectors FOLDER [SEED]", file=sys.stderr)
        return 2
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else 0
    if version("mmasim") != MMA_SIM_VERSION:
        print(f"the vectors are those of MMA-Sim {MMA_SIM_VERSION}, installed is {version('mmasim')}", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = [vectors_of(instruction, number, seed) for number, instruction in enumerate(instructions())]
    for recording in made:
        write(folder, recording)
    print(f"{folder}: {len(made)} instructions, {sum(map(len, made)):,} rows, seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
