"""A file with the differing rows of an instruction: operands, results of the device, results of the model."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden import Instruction
from golden.files import write_atomically
from golden.recordings import recording
from golden.recordings.npz import read_npz
from golden.stimulus import Operands
from hwtests.tally import KEPT_ROWS

_ARRAYS = ("a", "b", "c", "got", "expected", "found_in")
_SCALES = ("scale_a", "scale_b")


class KeptRows(NamedTuple):
    """Rows that differed.

    found_in holds the class or corner of each row, as ASCII bytes. For a row whose result depends on its place or operand
    route it names that (`shift=1, below=0`), and `expected` is what the device gave before.
    """

    operands: Operands
    got: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    found_in: npt.NDArray[Any]


def path_of(folder: Path, instruction: Instruction) -> Path:
    """The file of an instruction's differing rows, named as its recording is."""
    return folder / recording.file_name(instruction.arch, instruction.name)


def read(path: Path) -> KeptRows:
    """Read the rows of a file.

    Raises:
        ValueError: the file does not hold differing rows.
        OSError: the file cannot be read.
    """
    arrays = read_npz(path, _ARRAYS, _SCALES)
    operands = Operands(arrays["a"], arrays["b"], arrays["c"], arrays.get("scale_a"), arrays.get("scale_b"))
    return KeptRows(operands, arrays["got"], arrays["expected"], arrays["found_in"])


def keep(folder: Path, instruction: Instruction, rows: KeptRows) -> int:
    """Add rows to an instruction's file, up to `KEPT_ROWS` in all.

    Returns:
        The number of rows stored now.
    """
    path = path_of(folder, instruction)
    if path.exists():
        rows = _joined(read(path), rows)
    rows = _chosen(rows, slice(KEPT_ROWS))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content(rows))
    return len(rows.got)


def content(rows: KeptRows) -> bytes:
    """The content of a file with these rows."""
    stream = io.BytesIO()
    present: dict[str, Any] = {name: array for name, array in _arrays(rows).items() if array is not None}
    np.savez_compressed(stream, **present)
    return stream.getvalue()


def merged(first: KeptRows, second: KeptRows) -> KeptRows:
    """The rows of the first, then those of the second that are not among them."""
    known = set(_identities(first))
    return _joined(first, _chosen(second, [place for place, row in enumerate(_identities(second)) if row not in known]))


def _identities(rows: KeptRows) -> list[tuple[object, ...]]:
    """The key that identifies each row."""
    columns = [array.tolist() for array in _arrays(rows).values() if array is not None]
    return [tuple(tuple(x) if isinstance(x, list) else x for x in row) for row in zip(*columns, strict=True)]


def _arrays(rows: KeptRows) -> dict[str, Any]:
    arrays = dict(zip(("a", "b", "c", *_SCALES), rows.operands, strict=True))
    return arrays | {"got": rows.got, "expected": rows.expected, "found_in": rows.found_in}


def _chosen(rows: KeptRows, which: Any) -> KeptRows:
    return KeptRows(rows.operands.rows(which), rows.got[which], rows.expected[which], rows.found_in[which])


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
