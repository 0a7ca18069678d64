"""Rows: what a specification sends and expects, row by row, as scoreboard, coverage and the engines' cross-check see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from cosim.bench.comparison import Judge
from golden import Cls, Format
from golden.checks import check_int

MAX_BITS = 64
"""Widest code that is no number format: codes are arrays of NumPy's integers."""


class Class(NamedTuple):
    """What is said of a code that is no floating-point number: zero, or not."""

    cls: Cls


@dataclass(frozen=True)
class Bits:
    """Codes that are no floating-point numbers: an integer, a mode, flags. They take the place of a `golden.Format`.

    Attributes:
        width: bits, 1 to 64.
    """

    width: int

    def __post_init__(self) -> None:
        check_int("width of Bits", self.width, 1, MAX_BITS)

    def decode(self, code: int) -> Class:
        """ZERO or NORMAL, for coverage."""
        return Class(Cls.NORMAL if code else Cls.ZERO)

    def describe(self, code: int) -> str:
        """One readable line: the code in hex and as an unsigned integer."""
        return f"{self} {code:#0{2 + -(-self.width // 4)}x} = {code}"

    def __str__(self) -> str:
        return f"{self.width} bits"


class Rows(Protocol):
    """Rows of operands and the results that they must give.

    `DotProducts` are golden's; `OwnRows` those of a specification of one's own.
    """

    @property
    def name(self) -> str:
        """Tells these from others of the same vectors; empty where there are no others."""

    @property
    def result(self) -> Format | Bits:
        """Format of the result."""

    @property
    def expected(self) -> Sequence[int]:
        """Code of the result of each row."""

    @property
    def label(self) -> npt.NDArray[Any]:
        """Which of `classes` made each row."""

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes that a row sends, by operand or by port."""

    def classes(self) -> list[str]:
        """Every class and corner that could make a row, in the order of the stimulus."""

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that made the row."""

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, is the expected one, or as good."""

    def described(self, row: int, result: int | str) -> list[str]:
        """Inputs, got and expected, a line each."""

    def alone(self, row: int) -> "Rows":
        """One of the rows by itself; the others need not stay in memory for it."""

    def recomputed(self, row: int) -> int:
        """The row's result once more, by the reference engine."""


def described_result(result: int | str, kind: Format | Bits) -> str:
    """A result in words, one line; undefined bits as they are."""
    return f"{kind} {result}: bits that are neither 0 nor 1" if isinstance(result, str) else kind.describe(result)
