"""The signals between components: their formats, derived from golden's formats and parameters, and their interfaces."""

from collections.abc import Iterable
from dataclasses import dataclass

from amaranth import Shape, Value
from amaranth.lib.wiring import Out, Signature

from golden.arithmetic.formats import Format
from rtl.steps.step_record import Record


@dataclass(frozen=True)
class ExpRange:
    """The exponent values that a signal can take, both ends included."""

    low: int
    high: int

    def __add__(self, other: "ExpRange") -> "ExpRange":
        return ExpRange(self.low + other.low, self.high + other.high)

    def including(self, exp: int) -> "ExpRange":
        """The smallest range that holds this one and a further value."""
        return ExpRange(min(self.low, exp), max(self.high, exp))

    @property
    def span(self) -> int:
        """The largest difference of two values in the range."""
        return self.high - self.low

    @property
    def shape(self) -> Shape:
        """The narrowest signal shape that holds every value; always signed, so that exponents compare and add alike."""
        bits = max(self.high.bit_length(), (~self.low if self.low < 0 else self.low).bit_length())
        return Shape(bits + 1, signed=True)


def exp_range(operand: Format) -> ExpRange:
    """Exponents of a format's finite values."""
    return ExpRange(operand.e_min, operand.e_max)


def union(ranges: Iterable[ExpRange]) -> ExpRange:
    """The smallest range that holds all of the given ranges."""
    ranges = list(ranges)
    return ExpRange(min(r.low for r in ranges), max(r.high for r in ranges))


class OperandSignature(Signature):
    """Signature of a decoded operand.

    Args:
        exps: range of its exponent.
        sig_bits: bits of its significand, hidden bit included.
    """

    def __init__(self, exps: ExpRange, sig_bits: int) -> None:
        self.sig_bits = sig_bits
        flags = {"zero": Out(1), "inf": Out(1), "nan": Out(1)}
        super().__init__({"sign": Out(1), "exp": Out(exps.shape), "sig": Out(sig_bits)} | flags)

    @classmethod
    def of(cls, operand: Format) -> "OperandSignature":
        """The signature of an operand in one format."""
        return cls(exp_range(operand), operand.sig_bits)

    def create(self, *, path: tuple[str | int, ...] = (), src_loc_at: int = 0) -> "Operand":
        return Operand(**self.members.create(path=path, src_loc_at=1 + src_loc_at), signature=self)


@dataclass(frozen=True, eq=False)
class Operand(Record):
    """A decoded operand: sign, unbiased exp, sig with its hidden bit, and the classes that change what happens to it."""

    sign: Value
    exp: Value
    sig: Value
    zero: Value
    inf: Value
    nan: Value
    signature: OperandSignature

    def widths(self) -> dict[str, int]:
        exp_bits = Shape.cast(self.signature.members["exp"].shape).width
        return {"sign": 1, "exp": exp_bits, "sig": self.signature.sig_bits, "zero": 1, "inf": 1, "nan": 1}


@dataclass(frozen=True)
class TermFormat:
    """The range of a term: its exponents, the bits of its significand, and how many of these are fraction bits.

    Attributes:
        carry_bits: width of the second row of a significand that is the sum of two rows (rtl/arithmetic/multiplier.py), else
            0. If the second row is one bit wider than the first, the sum of the rows is the significand + 2**sig_bits.
    """

    exps: ExpRange
    sig_bits: int
    frac: int
    carry_bits: int = 0


class TermSignature(Signature):
    """Signature of a finite term of a sum.

    Args:
        term: the range of the term.
    """

    def __init__(self, term: TermFormat) -> None:
        self.term = term
        carry = {"carry": Out(term.carry_bits)} if term.carry_bits else {}
        super().__init__({"sign": Out(1), "exp": Out(term.exps.shape), "sig": Out(term.sig_bits), **carry})

    def create(self, *, path: tuple[str | int, ...] = (), src_loc_at: int = 0) -> "Term":
        return Term(**self.members.create(path=path, src_loc_at=1 + src_loc_at), format=self.term)


@dataclass(frozen=True, eq=False)
class Term(Record):
    """A finite term of a sum: (−1)^sign · sig · 2**(exp − frac), with the `frac` of its format (golden: `steps.Term`).

    If its significand is the sum of two rows, sig is the first row and carry the second; else carry is None.
    """

    sign: Value
    exp: Value
    sig: Value
    format: TermFormat
    carry: Value | None = None

    def widths(self) -> dict[str, int]:
        carry = {"carry": self.format.carry_bits} if self.format.carry_bits else {}
        return {"sign": 1, "exp": self.format.exps.shape.width, "sig": self.format.sig_bits, **carry}

    @property
    def signature(self) -> TermSignature:
        """The term's signature as a port of a component."""
        return TermSignature(self.format)


class SpecialSignature(Signature):
    """The signature of the flags of a term or a sum that is not finite."""

    def __init__(self) -> None:
        super().__init__({"nan": Out(1), "pos_inf": Out(1), "neg_inf": Out(1)})

    def create(self, *, path: tuple[str | int, ...] = (), src_loc_at: int = 0) -> "Special":
        return Special(**self.members.create(path=path, src_loc_at=1 + src_loc_at))


@dataclass(frozen=True, eq=False)
class Special(Record):
    """The flags of a term or a sum that is not finite; a finite one sets none (golden: `specials.Special`)."""

    nan: Value
    pos_inf: Value
    neg_inf: Value

    def widths(self) -> dict[str, int]:
        return {"nan": 1, "pos_inf": 1, "neg_inf": 1}

    @property
    def signature(self) -> SpecialSignature:
        """The flags' signature as a port of a component."""
        return SpecialSignature()
