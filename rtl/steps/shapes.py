"""Widths and interfaces of the values that pass between components, derived from golden's formats and parameters."""

from collections.abc import Iterable
from dataclasses import dataclass

from amaranth import Shape
from amaranth.lib.wiring import Out, Signature

from golden.formats import Format


@dataclass(frozen=True)
class ExpRange:
    """The exponent values that a signal can take, both ends included."""

    low: int
    high: int

    def __add__(self, other: "ExpRange") -> "ExpRange":
        return ExpRange(self.low + other.low, self.high + other.high)

    def including(self, exp: int) -> "ExpRange":
        """The range with one more value in it."""
        return ExpRange(min(self.low, exp), max(self.high, exp))

    @property
    def span(self) -> int:
        """Largest difference of two values."""
        return self.high - self.low

    @property
    def shape(self) -> Shape:
        """The narrowest signal that holds every value; always signed, so that exponents compare and add alike."""
        bits = max(self.high.bit_length(), (~self.low if self.low < 0 else self.low).bit_length())
        return Shape(bits + 1, signed=True)


def exp_range(operand: Format) -> ExpRange:
    """Exponents of a format's finite values."""
    return ExpRange(operand.e_min, operand.e_max)


def union(ranges: Iterable[ExpRange]) -> ExpRange:
    """The smallest range that holds them all."""
    ranges = list(ranges)
    return ExpRange(min(r.low for r in ranges), max(r.high for r in ranges))


class OperandSignature(Signature):
    """A decoded operand: sign, unbiased exp, sig with its hidden bit, and the classes that change what happens to it."""

    def __init__(self, operand: Format) -> None:
        self.operand = operand
        super().__init__(
            {
                "sign": Out(1),
                "exp": Out(exp_range(operand).shape),
                "sig": Out(operand.man_bits + 1),
                "zero": Out(1),
                "inf": Out(1),
                "nan": Out(1),
            }
        )


@dataclass(frozen=True)
class TermShape:
    """What a term can be: its exponents, the bits of its significand, and how many of those are fraction bits."""

    exps: ExpRange
    sig_bits: int
    frac: int


class TermSignature(Signature):
    """A finite term of the sum: (−1)^sign · sig · 2**(exp − frac)."""

    def __init__(self, term: TermShape) -> None:
        super().__init__({"sign": Out(1), "exp": Out(term.exps.shape), "sig": Out(term.sig_bits)})


class SpecialSignature(Signature):
    """What a term or a sum is when it is not finite."""

    def __init__(self) -> None:
        super().__init__({"nan": Out(1), "pos_inf": Out(1), "neg_inf": Out(1)})
