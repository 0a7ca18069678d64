"""Dot products that are sent to a design, and the vectors of transfers and results that they make up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy.typing as npt

from cosim.bench.comparison_rules import Judge
from cosim.bench.mismatch_text import operand_lines, result_lines
from cosim.bench.specified_rows import Rows
from golden import Format, Operation
from golden.comparison import differing
from golden.stimulus import Operands, Stimulus


@dataclass(frozen=True)
class DotProducts:
    """Rows of operands of one operation, or of a chain of it, and golden's results.

    Attributes:
        name: distinguishes these rows from others of the same vectors; empty where there are no others.
        operation: the operation, with the formats of scales, c and d.
        stimulus: operands, one dot product a row.
        dot: golden's model, `Unit.dot` or `Instruction.dot`.
        expected: code of d of each row.
        formats: formats of a and b, which may differ from the formats that the operation multiplies.
    """

    name: str
    operation: Operation
    stimulus: Stimulus
    dot: Callable[..., Any]
    expected: Sequence[int]
    formats: tuple[Format, Format]

    @cached_property
    def result(self) -> Format:
        """Format of d."""
        return self.operation.d

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""
        return self.stimulus.label

    @property
    def has_model(self) -> bool:
        """Whether the operation takes the rows without conversion; only then is there a coverage model."""
        return self.formats == (self.operation.a, self.operation.b)

    def operands_of(self, rows: npt.NDArray[Any]) -> Operands:
        """The operands of these rows."""
        return self.stimulus.operands.rows(rows)

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, agrees with golden's (numerics.md, section 3)."""
        if isinstance(result, str):
            return False
        expected = self.expected[row]
        if result == expected and judge.takes_the_unit:
            return True
        differs = bool(differing(result, expected, self.operation))
        return judge.agrees(result, expected, self.result, differs, lambda: self.codes(row))

    def codes(self, row: int) -> list[tuple[int, Format]]:
        """The codes of a row's a, b and c, each with its format."""
        operands, (a, b) = self.stimulus.operands, self.formats
        pairs = [(code, fmt) for codes, fmt in ((operands.a, a), (operands.b, b)) for code in codes[row].tolist()]
        return [*((int(code), fmt) for code, fmt in pairs), (int(operands.c[row]), self.operation.c)]

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes of a row by operand: a, b, c and, where scaled, scale_a and scale_b."""
        named = self.stimulus.operands._asdict().items()
        return {name: tuple(map(int, codes[row].reshape(-1).tolist())) for name, codes in named if codes is not None}

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that the row is from, prefixed by the name of the rows."""
        return self._class_name(self.stimulus.names[int(self.stimulus.label[row])])

    def classes(self) -> list[str]:
        """Every class and corner of the stimulus, in its order."""
        return [self._class_name(name) for name in self.stimulus.names]

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result: bits, sign, exponent and significand of each."""
        return self._inputs(row) + result_lines(result, self.expected[row], self.result)

    def _inputs(self, row: int) -> list[str]:
        """Describe the inputs."""
        operation, operands = self.operation, self.stimulus.operands
        a, b = self.formats
        vectors = [("a", operands.a, a), ("b", operands.b, b)]
        if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
            scale = operation.scale_format
            vectors += [("scale_a", operands.scale_a, scale), ("scale_b", operands.scale_b, scale)]
        lines = [line for name, codes, kind in vectors for line in operand_lines(name, codes[row].tolist(), kind, True)]
        return lines + operand_lines("c", [int(operands.c[row])], operation.c, False)

    def alone(self, row: int) -> "DotProducts":
        """A copy of one row, so that the others need not stay in memory."""
        one = slice(row, row + 1)
        codes = [None if array is None else array[one].copy() for array in self.stimulus.operands]
        stimulus = Stimulus(Operands(*codes), self.label[one].copy(), self.stimulus.names)  # type: ignore[arg-type]
        return DotProducts(self.name, self.operation, stimulus, self.dot, [self.expected[row]], self.formats)

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""
        return int(self.dot(*self.stimulus.rows(slice(row, row + 1)).operands, engine="reference")[0])

    def _class_name(self, name: str) -> str:
        return f"{self.name}: {name}" if self.name else name


class Element(NamedTuple):
    """One element of a result: a dot product, or a row of a user's specification.

    Attributes:
        products, row: the rows that hold its operands and expected result, and its index there.
        place: its place in the result, as text; empty where a result is one element.
    """

    products: Rows
    row: int
    place: str = ""


class Vector(NamedTuple):
    """The stimulus of one result. A named tuple, because it is made in a third of the time of a dataclass.

    Attributes:
        transfers: value of each operand port, for each transfer into the design.
        elements: elements of the result, the first in the low bits of d.
        number: its number in the run, from 0, assigned by the scoreboard.
    """

    transfers: Sequence[Mapping[str, int]]
    elements: Sequence[Element]
    number: int = 0


@dataclass(frozen=True)
class Chunk:
    """Consecutive vectors of a run, and the rows that they are made of."""

    vectors: Sequence[Vector]
    products: Sequence[Rows]
