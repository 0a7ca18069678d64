"""Rows of stimulus with their expected results: the interface for scoreboard, coverage and the cross-check of engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from cosim.bench.comparison_rules import Judge
from golden import Cls, Format
from golden.checks import check_int

MAX_BITS = 64
"""Largest width of `Bits`: codes are arrays of NumPy's integers."""


MOST_BITS = 512
"""Largest width of `FixedPoint`: more than the exact sum of products of fp16 or bf16 numbers."""


class Class(NamedTuple):
    """The class of a code that is not a floating-point number: ZERO or NORMAL."""

    cls: Cls


@dataclass(frozen=True)
class Bits:
    """A format of codes that are not floating-point numbers (an integer, a mode, flags), in place of a `golden.Format`.

    Attributes:
        width: bits, 1 to 64.
    """

    width: int

    def __post_init__(self) -> None:
        check_int("width of Bits", self.width, 1, MAX_BITS)

    def decode(self, code: int) -> Class:
        """The class of a code, for coverage: ZERO or NORMAL."""
        return Class(Cls.NORMAL if code else Cls.ZERO)

    def describe(self, code: int) -> str:
        """The code in hexadecimal and as an unsigned integer, in one line."""
        return f"{self} {code:#0{2 + -(-self.width // 4)}x} = {code}"

    def __str__(self) -> str:
        return f"{self.width} bits"


@dataclass(frozen=True)
class FixedPoint(Bits):
    """A fixed-point number in two's complement, in place of a `golden.Format`: a code stands for its integer / 2**fraction.

    Attributes:
        width: bits, 1 to `MOST_BITS`. fraction: how many of them are fraction bits.
    """

    fraction: int = 0

    def __post_init__(self) -> None:
        check_int("bits of a fixed-point number", self.width, 1, MOST_BITS)
        check_int("fraction bits of a fixed-point number", self.fraction, 0, MOST_BITS)

    def number(self, code: int) -> int:
        """The integer of a code."""
        return code - (1 << self.width) if code >> self.width - 1 else code

    def describe(self, code: int) -> str:
        """The code in hexadecimal and its value, in one line."""
        scale = f"·2^-{self.fraction}" if self.fraction else ""
        return f"{self} {code:#0{2 + -(-self.width // 4)}x} = {self.number(code):+d}{scale}"


class Rows(Protocol):
    """Rows of operands and their expected results: golden's `DotProducts`, or `UserRows` of a user's specification."""

    @property
    def name(self) -> str:
        """The name that distinguishes these rows from others of the same vectors; empty where there are no others."""

    @property
    def result(self) -> Format | Bits:
        """The format of the result."""

    @property
    def expected(self) -> Sequence[int]:
        """The code of the expected result of each row."""

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes that a row sends, by operand or by port."""

    def classes(self) -> list[str]:
        """Every class and corner of the stimulus, in its order."""

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that the row is from."""

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, agrees with the expected one."""

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result, one line each."""

    def alone(self, row: int) -> "Rows":
        """A copy of one row, so that the others need not stay in memory."""

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""
