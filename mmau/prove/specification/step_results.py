"""The results of a specification's steps, in golden's terms. If a number is not finite, only its flags have a meaning."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, Number, any_of


@dataclass(frozen=True)
class Code:
    """The code of a number, as a bit vector."""

    bits: Bits


class Value:
    """Base of the values: dataclasses of flags, numbers and codes."""

    def parts(self) -> Iterator[tuple[str, Flag | Number | Code]]:
        """Every part with its name."""
        for item in fields(self):  # type: ignore[arg-type]  # every value is a dataclass
            part = getattr(self, item.name)
            if isinstance(part, Flag | Number | Code):
                yield item.name, part


@dataclass(frozen=True)
class Operand(Value):
    """A decoded operand (golden: `Decoded`): (−1)^sign · sig · 2^(exp − man_bits) if it is neither infinite nor NaN.

    Attributes:
        bounded: whether exp lies within its bounds for NaN too; there is no infinity then.
        flushed: whether every finite operand is zero or a normal number.
    """

    sign: Flag
    exp: Number
    sig: Number
    zero: Flag
    inf: Flag
    nan: Flag
    bounded: bool
    flushed: bool = False

    @property
    def finite(self) -> Flag:
        """Whether the operand is finite; otherwise its sign, exponent and significand have no meaning."""
        return ~(self.inf | self.nan)


@dataclass(frozen=True)
class Special(Value):
    """The flags of a term or a sum that is not finite (golden: `specials.Special`)."""

    nan: Flag
    pos_inf: Flag
    neg_inf: Flag

    @property
    def finite(self) -> Flag:
        """Whether no flag is set."""
        return ~any_of([self.nan, self.pos_inf, self.neg_inf])


@dataclass(frozen=True)
class Term(Value):
    """An addend (golden: `steps.Term`, its sig without the sign): (−1)^sign · sig · 2^(exp − frac)."""

    sign: Flag
    exp: Number
    sig: Number
    frac: int


@dataclass(frozen=True)
class Exponent(Value):
    """The exponent that terms are aligned to, at least that of each."""

    e_max: Number
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Aligned(Value):
    """A term aligned to e_max: sign and magnitude in units of 2^(e_max − F)."""

    sign: Flag
    aligned: Number


@dataclass(frozen=True)
class AlignedLost(Aligned):
    """An aligned term, and whether a one was lost below its last bit."""

    lost: Flag


@dataclass(frozen=True)
class Total(Value):
    """The exact sum of aligned terms: sign and magnitude; the sign of a sum of zero is +."""

    sign: Flag
    total: Number


@dataclass(frozen=True)
class Integer(Value):
    """The product of integers, or another integer without an exponent."""

    number: Number


@dataclass(frozen=True)
class Word(Value):
    """A sum of integers in a fixed number of bits."""

    total: Code


@dataclass(frozen=True)
class Result(Value):
    """The code of d."""

    code: Code
