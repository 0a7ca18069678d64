"""The answers of a device under test: `Journal`, a file with all of them, from which a probe resumes, so that no vector is
asked twice; and `Evidence`, the rows that were answered, under the name of the feature that asked for them."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.files import write_atomically
from golden.recordings.npz import npz_bytes, read_npz
from golden.stimulus import Operands, OperandShape
from mmau.probe.features.feature import concatenated
from mmau.probe.model import Model


class Evidence:
    """Rows and the device's answers.

    Attributes:
        operands, d: all rows, in the order in which they were asked.
        features: for each row, the name of the feature that asked for it.
    """

    def __init__(self, operands: Operands, d: BitArray, feature: str) -> None:
        self.operands, self.d = operands, d
        self.features = [feature] * len(d)

    def __len__(self) -> int:
        return len(self.d)

    def add(self, operands: Operands, d: BitArray, feature: str) -> None:
        """Append rows, their results [rows], and the feature that asked for them."""
        self.operands = concatenated([self.operands, operands])
        self.d = np.concatenate([self.d, d])
        self.features += [feature] * len(d)

    def failing(self, model: Model) -> np.ndarray:
        """Rows that the model does not reproduce."""
        return np.flatnonzero(model.differs(self.operands, self.d))

    def is_equal(self, model: Model) -> bool:
        """Whether the model gives the same codes as the device, for NaN too."""
        return bool(np.array_equal(model.run(self.operands), self.d))

    def matched(self, model: Model, rows: np.ndarray) -> int:
        """How many of these rows the model reproduces."""
        return len(rows) - int(np.count_nonzero(model.differs(self.operands.rows(rows), self.d[rows])))


VERSION = 1
"""Version of the file's format. Files of version 1 need not state it."""

_ARRAYS = ("a", "b", "c", "d")
_SCALES = ("scale_a", "scale_b")


def row_keys(operands: Operands) -> list[bytes]:
    """A key for each row: its bytes."""
    rows = len(operands.c)
    if not rows:
        return []
    columns = [np.ascontiguousarray(array).reshape(rows, -1).view(np.uint8) for array in operands if array is not None]
    joined = np.ascontiguousarray(np.concatenate(columns, axis=1))
    return [row.tobytes() for row in joined]


def _text(shape: OperandShape) -> str:
    scales = "" if shape.scale is None else f", {shape.scale} for {shape.block_size}"
    return f"{shape.a} x {shape.b} + {shape.c} -> {shape.d}, K = {shape.K}{scales}"


class Journal:
    """Answers by row, and for each model the number of random vectors that it has reproduced.

    Attributes:
        answers: the key of a row (`row_keys`) to the code of d.
        validated: a model's text to the random vectors on which it agreed, from the first on.
        earlier: the keys of what an earlier run has asked.
    """

    def __init__(self, name: str, shape: OperandShape, path: Path | None = None, identity: str = "") -> None:
        """Begin a journal, or resume the one at `path`.

        Args:
            identity: the identity of the device under test (see `Device`).

        Raises:
            ValueError: the file is no journal, or that of another device under test. OSError: it cannot be read.
        """
        self.answers: dict[bytes, int] = {}
        self.validated: dict[str, int] = {}
        self._rows: list[tuple[Operands, BitArray]] = []
        self._header: dict[str, Any] = {
            "version": VERSION, "device_under_test": name, "shape": _text(shape), "identity": identity
        }  # fmt: skip
        self._path = path
        self._shape = shape
        if path is not None and path.exists():
            self._read(path)
        self.earlier = frozenset(self.answers)

    def add(self, operands: Operands, d: BitArray, keys: list[bytes]) -> None:
        """Record answers of the device under test."""
        self._rows.append((operands, d))
        self.answers.update(zip(keys, map(int, d), strict=True))

    def forget(self, keys: Collection[bytes]) -> None:
        """Drop rows to which the device under test gave another answer when it was asked again."""
        for key in keys:
            self.answers.pop(key, None)
        remaining = []
        for operands, d in self._rows:
            rows = np.flatnonzero([key in self.answers for key in row_keys(operands)])
            remaining.append((operands.rows(rows), d[rows]))
        self._rows = remaining

    def save(self) -> None:
        """Write the file, if the journal has a path and answers."""
        if self._path is None or not self._rows:
            return
        names = _ARRAYS[:3] + (_SCALES if self._shape.scale is not None else ())
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
            version = header.get("version", VERSION)
            name = header["box"] if "box" in header else header["device_under_test"]  # "box" until version 0.1
            shape = header["shape"]
            self.validated = {str(text): int(rows) for text, rows in header["validated"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not the journal of a probe: {error!r}") from error
        if version != VERSION:
            raise ValueError(f"{path} must be a journal of version {VERSION}, got version {version!r}; name another file")
        expected = self._header["device_under_test"]
        if name != expected:
            raise ValueError(f"{path} must be the journal of {expected}, got that of {name}; name another file")
        if shape != self._header["shape"]:
            raise ValueError(
                f"{path} must be the journal of {name}, whose operands are {self._header['shape']}; "
                f"the file has {shape}; name another file"
            )
        if header.get("identity") != self._header["identity"]:
            raise ValueError(
                f"{path} must be the journal of {name} as it is now; its design, unit, program, device or driver "
                "has changed since; name another file"
            )
        operands = Operands(arrays["a"], arrays["b"], arrays["c"], arrays.get("scale_a"), arrays.get("scale_b"))
        if not self._fits(operands, arrays["d"]):
            raise ValueError(f"{path} must be the journal of a probe, with arrays of operands and results of {name}")
        self.add(operands, arrays["d"], row_keys(operands))

    def _fits(self, operands: Operands, d: BitArray) -> bool:
        """Whether arrays have the dtypes and the shapes that the device's have."""
        shape, rows = self._shape, d.shape
        of_scales = (*rows, shape.blocks)
        expected = [((*rows, shape.K), shape.a), ((*rows, shape.K), shape.b), (rows, shape.c), (rows, shape.d)]
        arrays = [operands.a, operands.b, operands.c, d]
        if shape.scale is not None:
            expected += [(of_scales, shape.scale)] * 2
            arrays += [operands.scale_a, operands.scale_b]  # type: ignore[list-item]
        return len(rows) == 1 and all(
            array is not None and array.shape == size and array.dtype == bits_dtype(operand)
            for array, (size, operand) in zip(arrays, expected, strict=True)
        )
