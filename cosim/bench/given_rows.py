"""Rows of a user's specification: any input ports, with results of any model, checked like golden's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cosim.bench.comparison_rules import Judge
from cosim.bench.products import Bits, Chunk, Element, Vector, operand_lines, packed, result_lines
from golden import Format
from golden.arrays import BitArray

Model = Callable[[Mapping[str, BitArray], str | None], Any]
"""Function from the codes of each input port and the name of golden's engine (None: the fastest) to the codes of the
results."""


class PortCodes(NamedTuple):
    """The codes of an input port, [rows] or [rows, elements] with element 0 in the low bits, and their format."""

    codes: BitArray
    format: Format | Bits


@dataclass(frozen=True)
class UserRows:
    """Rows that a user's specification sends, one vector each, and the expected results; made by `user_rows`.

    Attributes:
        ports: codes of each input port.
        result: format of d.
        expected: code of d of each row.
        model: computes d from the codes of the ports.
        label, names: `names[label[row]]` is the class of the row, for coverage and reports.
        name: name that distinguishes these rows from others of the same vectors; empty where there are no others.
    """

    ports: Mapping[str, PortCodes]
    result: Format | Bits
    expected: Sequence[int]
    model: Model
    label: npt.NDArray[Any]
    names: tuple[str, ...]
    name: str = ""

    def chunk(self) -> Chunk:
        """The rows as vectors of one transfer each."""
        columns = [packed(given.codes.reshape(len(given.codes), -1), given.format) for given in self.ports.values()]
        transfers = [dict(zip(self.ports, row, strict=True)) for row in zip(*columns, strict=True)]
        return Chunk([Vector([transfer], [Element(self, row)]) for row, transfer in enumerate(transfers)], [self])

    def classes(self) -> list[str]:
        """Every class of rows, prefixed by the name of the rows."""
        return [f"{self.name}: {name}" if self.name else name for name in self.names]

    def made_by(self, row: int) -> str:
        """The class of a row."""
        return self.classes()[int(self.label[row])]

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result is the model's bit for bit, or differs only as the rules of comparison permit."""
        if isinstance(result, str):
            return False
        differs = result != self.expected[row]
        if isinstance(self.result, Bits):
            return not differs
        return judge.agrees(result, self.expected[row], self.result, differs, lambda: self._codes(row))

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result, one line each."""
        lines = []
        for port, (codes, kind) in self.ports.items():
            lines += operand_lines(port, np.atleast_1d(codes[row]).tolist(), kind, codes.ndim > 1)
        return lines + result_lines(result, self.expected[row], self.result)

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes that a row sends, by port."""
        return {port: tuple(np.atleast_1d(given.codes[row]).tolist()) for port, given in self.ports.items()}

    def alone(self, row: int) -> "UserRows":
        """A copy of one row, so that the others need not stay in memory."""
        one = slice(row, row + 1)
        ports = {port: PortCodes(codes[one].copy(), kind) for port, (codes, kind) in self.ports.items()}
        return replace(self, ports=ports, expected=[self.expected[row]], label=self.label[one].copy())

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the model with golden's reference engine."""
        alone = self.alone(row)
        return computed(alone.ports, self.result, self.model, "reference")[0]

    def _codes(self, row: int) -> list[tuple[int, Format]]:
        """The codes of a row that are floating-point numbers, each with its format."""
        numbers = [(given.codes[row], given.format) for given in self.ports.values() if isinstance(given.format, Format)]
        return [(int(code), kind) for codes, kind in numbers for code in np.atleast_1d(codes).tolist()]


def user_rows(
    ports: Mapping[str, tuple[BitArray, Format | Bits]],
    result: Format | Bits,
    model: Model,
    engine: str | None = None,
    label: npt.NDArray[Any] | None = None,
    names: Sequence[str] = ("rows",),
    name: str = "",
) -> UserRows:
    """Make rows for a user's specification; the model computes their results.

    Args:
        ports: codes of each input port, unsigned integers [rows] or [rows, elements], with their format.
        result: format of d.
        model: computes d from the codes. It is called a second time for a sample of the rows, with the engine "reference":
            a model that uses golden passes the engine on to golden.
        engine: the engine for the model, the argument of `Specification.chunks`.
        label, names: the class of each row, as an index into names; by default all rows have one class.
        name: distinguishes these rows from others of the same vectors.

    Raises:
        TypeError: codes that are not unsigned integers. ValueError: codes that do not fit their format, or columns of
            unequal length.
    """
    columns = {port: PortCodes(*given) for port, given in ports.items()}
    for port, (codes, kind) in columns.items():
        _check_codes(f"codes of port {port}", codes, kind)
    lengths = {port: len(codes) for port, (codes, _) in columns.items()}
    rows = next(iter(lengths.values()), 0)
    labels = np.zeros(rows, np.uint8) if label is None else label
    if set(lengths.values()) != {rows} or len(labels) != rows or not rows:
        raise ValueError(
            f"every port and the label must have the same number of rows, at least 1; got {lengths | {'label': len(labels)}}"
        )
    if int(labels.max()) >= len(names):
        raise ValueError(f"labels must be indices of the {len(names)} names, got {int(labels.max())}")
    return UserRows(columns, result, computed(columns, result, model, engine), model, labels, tuple(names), name)


def computed(ports: Mapping[str, PortCodes], result: Format | Bits, model: Model, engine: str | None) -> list[int]:
    """The model's results, one for each row.

    Raises:
        TypeError: results that are not unsigned integers. ValueError: too few or too many results, or results that do not
            fit the format.
    """
    rows = len(next(iter(ports.values())).codes)
    codes = np.asarray(model({port: given.codes for port, given in ports.items()}, engine))
    _check_codes("results of the model", codes, result)
    if codes.shape != (rows,):
        raise ValueError(f"results of the model must have the shape ({rows},), one code for each row; got {codes.shape}")
    return [int(code) for code in codes.tolist()]


def _check_codes(what: str, codes: Any, kind: Format | Bits) -> None:
    if not isinstance(codes, np.ndarray) or codes.dtype.kind != "u":
        got = codes.dtype if isinstance(codes, np.ndarray) else type(codes).__name__
        raise TypeError(f"{what} must be an array of unsigned integers, bits of {kind}; got {got}")
    if codes.ndim not in (1, 2):
        raise ValueError(f"{what} must have the shape [rows] or [rows, elements], got {codes.shape}")
    if codes.size and int(codes.max()) >> kind.width:
        raise ValueError(f"{what} must fit in {kind.width} bits ({kind}), got {int(codes.max()):#x}")
