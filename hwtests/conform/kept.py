"""The rows of an instruction that differed, in a file: operands, what the device gave, what the model expected."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden import Instruction, recording
from golden.files import read_npz, write_atomically
from golden.stimulus import Operands
from hwtests.tally import KEPT_ROWS

_ARRAYS = ("a", "b", "c", "got", "expected", "found_in")
_SCALES = ("scale_a", "scale_b")


class KeptRows(NamedTuple):
    """Rows that differed. found_in: the class or corner of each, as text in ASCII (bytes)."""

    operands: Operands
    got: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    found_in: npt.NDArray[Any]


def path_of(folder: Path, instruction: Instruction) -> Path:
    """The file of an instruction: named as its recording."""
    return folder / recording.file_name(instruction.arch, instruction.name)


def read(path: Path) -> KeptRows:
    """The rows of a file.

    Raises:
        ValueError: not such a file. OSError: it cannot be read.
    """
    arrays = read_npz(path, _ARRAYS, _SCALES)
    operands = Operands(arrays["a"], arrays["b"], arrays["c"], arrays.get("scale_a"), arrays.get("scale_b"))
    return KeptRows(operands, arrays["got"], arrays["expected"], arrays["found_in"])


def keep(folder: Path, instruction: Instruction, rows: KeptRows) -> int:
    """Add rows to an instruction's file, up to `KEPT_ROWS` in all.

    Returns:
        How many are kept now.
    """
    path = path_of(folder, instruction)
    if path.exists():
        rows = _joined(read(path), rows)
    arrays = dict(zip(("a", "b", "c", *_SCALES), rows.operands, strict=True))
    arrays |= {"got": rows.got, "expected": rows.expected, "found_in": rows.found_in}
    stream = io.BytesIO()
    present: dict[str, Any] = {name: array[:KEPT_ROWS] for name, array in arrays.items() if array is not None}
    np.savez_compressed(stream, **present)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, stream.getvalue())
    return min(KEPT_ROWS, len(rows.got))


def _joined(first: KeptRows, second: KeptRows) -> KeptRows:
    operands = [
        None if x is None or y is None else np.concatenate([x, y])
        for x, y in zip(first.operands, second.operands, strict=True)
    ]
    return KeptRows(
        Operands(*operands),  # type: ignore[arg-type]
        np.concatenate([first.got, second.got]),
        np.concatenate([first.expected, second.expected]),
        np.concatenate([first.found_in, second.found_in]),
    )
