"""What is sent to a design, and what must come back: dot products, put together into transfers and results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy.typing as npt

from cosim.bench.comparison import Judge
from cosim.bench.rows import Rows, described_result
from golden import Format, Operation
from golden.arrays import BitArray
from golden.comparison import differing
from golden.stimulus import Operands, Stimulus


@dataclass(frozen=True)
class DotProducts:
    """Rows of operands that go through one operation, or a chain of it, and golden's results.

    Attributes:
        name: tells these from others of the same vectors; empty where there are no others.
        operation: whose scales, c and d they have.
        stimulus: operands, one dot product a row.
        dot: golden's model, `Unit.dot` or `Instruction.dot`.
        expected: code of d of each row.
        formats: of a and b, which need not be what the operation multiplies.
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
        """Which of `classes` made each row."""
        return self.stimulus.label

    @property
    def has_model(self) -> bool:
        """Whether its rows go as they are, not converted before, through the operation: then coverage has a model of it."""
        return self.formats == (self.operation.a, self.operation.b)

    def operands_of(self, rows: npt.NDArray[Any]) -> Operands:
        """The operands of some rows."""
        return self.stimulus.operands.rows(rows)

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, is golden's, or as good (numerics.md, section 3)."""
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
        """The codes of a row by operand: a, b, c and where scaled scale_a and scale_b."""
        named = self.stimulus.operands._asdict().items()
        return {name: tuple(map(int, codes[row].reshape(-1).tolist())) for name, codes in named if codes is not None}

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that made the row, those of each name apart."""
        return self._class_name(self.stimulus.names[int(self.stimulus.label[row])])

    def classes(self) -> list[str]:
        """Every class and corner that could make a row, in the order of the stimulus."""
        return [self._class_name(name) for name in self.stimulus.names]

    def described(self, row: int, result: int | str) -> list[str]:
        """Inputs, got and expected, each as bits, sign, exponent and significand."""
        operation, operands = self.operation, self.stimulus.operands
        a, b = self.formats
        lines = _elements("a", operands.a[row], a) + _elements("b", operands.b[row], b)
        if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
            lines += _elements("scale_a", operands.scale_a[row], operation.scale_format)
            lines += _elements("scale_b", operands.scale_b[row], operation.scale_format)
        lines.append(f"  c        {operation.c.describe(int(operands.c[row]))}")
        lines.append(f"  got      {described_result(result, operation.d)}")
        return [*lines, f"  expected {operation.d.describe(self.expected[row])}"]

    def alone(self, row: int) -> "DotProducts":
        """One of the rows by itself; the others need not stay in memory for it."""
        one = slice(row, row + 1)
        codes = [None if array is None else array[one].copy() for array in self.stimulus.operands]
        stimulus = Stimulus(Operands(*codes), self.label[one].copy(), self.stimulus.names)  # type: ignore[arg-type]
        return DotProducts(self.name, self.operation, stimulus, self.dot, [self.expected[row]], self.formats)

    def recomputed(self, row: int) -> int:
        """The row's result once more, by the reference engine."""
        return int(self.dot(*self.stimulus.rows(slice(row, row + 1)).operands, engine="reference")[0])

    def _class_name(self, name: str) -> str:
        return f"{self.name}: {name}" if self.name else name


class Element(NamedTuple):
    """One dot product of a result, or what else a specification of one's own expects there.

    Attributes:
        products, row: where its operands and the expected result are.
        place: where in the result it is, in words; empty where a result is one element.
    """

    products: Rows
    row: int
    place: str = ""


class Vector(NamedTuple):
    """What makes one result. There is one for each that is sent, and a tuple is made in a third of the time of a dataclass.

    Attributes:
        transfers: what each operand port shows, one a transfer into the design.
        elements: of the result, the first in the low bits of d.
        number: its place in the run, from 0, which the scoreboard gives it.
    """

    transfers: Sequence[Mapping[str, int]]
    elements: Sequence[Element]
    number: int = 0


@dataclass(frozen=True)
class Chunk:
    """Some vectors of a run, and the rows that they are made of."""

    vectors: Sequence[Vector]
    products: Sequence[Rows]


def _elements(name: str, codes: BitArray, operand: Format) -> list[str]:
    return [f"  {f'{name}[{k}]':<8} {operand.describe(code)}" for k, code in enumerate(codes.tolist())]
