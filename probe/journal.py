"""What a box has answered so far: kept in a file, so that a probe goes on where it ended and no vector is asked twice."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from golden.arrays import BitArray
from golden.files import npz_bytes, read_npz, write_atomically
from golden.stimulus import Operands, OperandShape

_ARRAYS = ("a", "b", "c", "d")
_SCALES = ("scale_a", "scale_b")


def row_keys(operands: Operands) -> list[bytes]:
    """A key for each row: its bytes."""
    rows = len(operands.c)
    columns = [np.ascontiguousarray(array).reshape(rows, -1).view(np.uint8) for array in operands if array is not None]
    joined = np.ascontiguousarray(np.concatenate(columns, axis=1))
    return [row.tobytes() for row in joined]


class Journal:
    """Answers by row, and for each model how many random vectors it has reproduced.

    Attributes:
        answers: the key of a row (`row_keys`) to the code of d.
        validated: a model's text to the random vectors on which it agreed, from the first on.
    """

    def __init__(self, name: str, shape: OperandShape, path: Path | None = None) -> None:
        """Begin a journal, or go on with the one at `path`.

        Raises:
            ValueError: the file is no journal, or that of another box. OSError: it cannot be read.
        """
        self.answers: dict[bytes, int] = {}
        self.validated: dict[str, int] = {}
        self._rows: list[tuple[Operands, BitArray]] = []
        self._header = {"box": name, "shape": str(shape)}
        self._path = path
        self._scaled = shape.scale is not None
        if path is not None and path.exists():
            self._read(path)

    def add(self, operands: Operands, d: BitArray, keys: list[bytes]) -> None:
        """Enter what the box answered."""
        self._rows.append((operands, d))
        self.answers.update(zip(keys, map(int, d), strict=True))

    def save(self) -> None:
        """Write the file, where there is one to write and anything to say."""
        if self._path is None or not self._rows:
            return
        names = _ARRAYS[:3] + (_SCALES if self._scaled else ())
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(operands, name) for operands, _ in self._rows]) for name in names
        }
        columns["d"] = np.concatenate([d for _, d in self._rows])
        header = json.dumps(self._header | {"validated": self.validated})
        columns["header"] = np.frombuffer(header.encode(), np.uint8)
        write_atomically(self._path, npz_bytes(columns))

    def _read(self, path: Path) -> None:
        arrays = read_npz(path, (*_ARRAYS, "header"), _SCALES)
        try:
            header = json.loads(arrays["header"].tobytes())
            found = {key: header[key] for key in self._header}
            self.validated = {str(text): int(rows) for text, rows in header["validated"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not the journal of a probe: {error!r}") from error
        if found != self._header:
            raise ValueError(
                f"{path} must be the journal of {self._header['box']}, and is that of {found['box']}; name another file"
            )
        operands = Operands(arrays["a"], arrays["b"], arrays["c"], arrays.get("scale_a"), arrays.get("scale_b"))
        if len({len(array) for array in (*operands, arrays["d"]) if array is not None}) != 1:
            raise ValueError(f"{path} is not the journal of a probe: its arrays have different lengths")
        self.add(operands, arrays["d"], row_keys(operands))
