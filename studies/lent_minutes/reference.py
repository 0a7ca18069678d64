"""Rows of every distinct arithmetic of sm_90 with the reference's results, against which the engine on a device is
tested.

    python -m studies.lent_minutes.reference

writes `reference_rows.npz` beside this file: for arithmetic number i arrays {i}_a, {i}_b, {i}_c, {i}_d. It takes a minute.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arithmetic.formats import IntegerFormat
from golden.files import write_atomically
from golden.recordings.npz import read_npz
from golden.stimulus import Operands, OperandShape, volume

FILE = Path(__file__).with_name("reference_rows.npz")
ARCH = "sm_90"
ROWS, SEED = 192, 90


class ReferenceRows(NamedTuple):
    """An instruction that has the arithmetic, rows of operands, and d of each."""

    instruction: Instruction
    operands: Operands
    d: npt.NDArray[np.unsignedinteger]


def of_floats(arch: str) -> list[Instruction]:
    """The instructions of an architecture on floating point."""
    return [instruction for instruction in golden.instructions(arch) if not isinstance(instruction.d, IntegerFormat)]


def distinct() -> list[Instruction]:
    """The first instruction of every distinct arithmetic."""
    found: dict[object, Instruction] = {}
    for instruction in of_floats(ARCH):
        found.setdefault((instruction.chain, instruction.k), instruction)
    return list(found.values())


def made() -> Iterator[ReferenceRows]:
    """The rows, computed anew by the reference."""
    for instruction in distinct():
        shape = OperandShape.of(instruction)
        operands = volume.rows(shape, SEED, 0, ROWS).operands
        yield ReferenceRows(instruction, operands, instruction.dot(*operands, engine="reference"))


def read(path: Path = FILE) -> list[ReferenceRows]:
    """The rows of the file.

    Raises:
        ValueError: not such a file. OSError: it cannot be read.
    """
    instructions = distinct()
    names = [f"{index}_{key}" for index in range(len(instructions)) for key in "abcd"]
    arrays = read_npz(path, names)
    found = []
    for index, instruction in enumerate(instructions):
        a, b, c, d = (arrays[f"{index}_{key}"] for key in "abcd")
        found.append(ReferenceRows(instruction, Operands(a, b, c, None, None), d))
    return found


def content() -> bytes:
    """The bytes of the file `reference_rows.npz`."""
    stream = io.BytesIO()
    arrays: dict[str, Any] = {}
    for index, rows in enumerate(made()):
        a, b, c, *_ = rows.operands
        arrays |= {f"{index}_a": a, f"{index}_b": b, f"{index}_c": c, f"{index}_d": rows.d}
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


if __name__ == "__main__":
    write_atomically(FILE, content())
