"""Integers as bit vectors that are always wide enough: a number knows its bounds, and so does every result.

A specification reads like golden, in exact integers, and nothing in it can overflow. A number whose lower bound is not
negative is encoded without a sign, any other in two's complement, both in as few bits as the bounds need.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from bitwuzla import Kind, Term

from mmau.prove.netlist.terms import Bits, Terms


def width_of(low: int, high: int) -> int:
    """Bits that hold every integer between two bounds."""
    if low >= 0:
        return max(1, high.bit_length())
    return max(high.bit_length(), (~low).bit_length()) + 1


@dataclass(frozen=True)
class Flag:
    """One bit that answers yes or no."""

    terms: Terms
    bits: Bits

    def __and__(self, other: "Flag") -> "Flag":
        return self._of(Kind.BV_AND, other)

    def __or__(self, other: "Flag") -> "Flag":
        return self._of(Kind.BV_OR, other)

    def __xor__(self, other: "Flag") -> "Flag":
        return self._of(Kind.BV_XOR, other)

    def __invert__(self) -> "Flag":
        return Flag(self.terms, self.terms.apply(Kind.BV_NOT, [self.bits], 1))

    @property
    def holds(self) -> Term:
        """The formula that the bit is 1."""
        return self.terms.is_nonzero(self.bits)

    def _of(self, kind: Kind, other: "Flag") -> "Flag":
        return Flag(self.terms, self.terms.apply(kind, [self.bits, other.bits], 1))


@dataclass(frozen=True)
class Number:
    """An integer.

    Attributes:
        terms: makes terms. bits: its encoding. low, high: its bounds, both included.
    """

    terms: Terms
    bits: Bits
    low: int
    high: int

    def __post_init__(self) -> None:
        needed = width_of(self.low, self.high)
        if self.low > self.high or self.bits.width != needed:
            raise ValueError(f"a number of {self.low} … {self.high} must have {needed} bits, got {self.bits.width}")

    @classmethod
    def constant(cls, terms: Terms, value: int) -> "Number":
        """The constant `value` as a number."""
        width = width_of(value, value)
        return cls(terms, terms.number(value & ((1 << width) - 1), width), value, value)

    @classmethod
    def read(cls, terms: Terms, bits: Bits, low: int, high: int, signed: bool) -> "Number":
        """The number in bits that are known to hold one between the bounds; surplus bits are dropped."""
        return cls(terms, terms.extended(bits, width_of(low, high), signed), low, high)

    @property
    def is_signed(self) -> bool:
        """Whether the number is encoded in two's complement."""
        return self.low < 0

    @property
    def free(self) -> "Number":
        """The same bits, bounded by nothing but their width."""
        width, below = self.bits.width, int(self.is_signed)
        return Number(self.terms, self.bits, -below << width - 1, (1 << width - below) - 1)

    def held_in(self, width: int) -> Bits:
        """The number modulo 2**width."""
        return self.terms.extended(self.bits, width, self.is_signed)

    def __add__(self, other: "Number | int") -> "Number":
        return total([self, self._number(other)])

    def __sub__(self, other: "Number | int") -> "Number":
        right = self._number(other)
        return self._made(Kind.BV_SUB, right, self.low - right.high, self.high - right.low)

    def __mul__(self, other: "Number | int") -> "Number":
        right = self._number(other)
        products = [x * y for x in (self.low, self.high) for y in (right.low, right.high)]
        return self._made(Kind.BV_MUL, right, min(products), max(products))

    def __neg__(self) -> "Number":
        return Number.constant(self.terms, 0) - self

    def __lt__(self, other: "Number | int") -> Flag:
        return self._compared(Kind.BV_SLT, Kind.BV_ULT, self._number(other))

    def __le__(self, other: "Number | int") -> Flag:
        return self._compared(Kind.BV_SLE, Kind.BV_ULE, self._number(other))

    def __gt__(self, other: "Number | int") -> Flag:
        return self._number(other) < self

    def __ge__(self, other: "Number | int") -> Flag:
        return self._number(other) <= self

    def equals(self, other: "Number | int") -> Flag:
        """Whether two numbers are equal."""
        return self._compared(Kind.EQUAL, Kind.EQUAL, self._number(other))

    def is_zero(self) -> Flag:
        """Whether the number is 0."""
        return self.equals(0)

    def times_two_to(self, places: int) -> "Number":
        """The number · 2**places, places ≥ 0."""
        if places == 0:
            return self
        bits = self.terms.joined([self.bits, self.terms.number(0, places)])
        return bounded(self.terms, bits, self.low << places, self.high << places, self.is_signed)

    def shifted_right(self, places: "Number | int") -> "Number":
        """⌊the number / 2**places⌋, both not negative."""
        amount = self._number(places)
        if amount.low < 0 or self.low < 0:
            raise ValueError("shifted_right takes numbers that are not negative")
        width = max(self.bits.width, amount.bits.width)
        bits = self.terms.apply(Kind.BV_SHR, [self.held_in(width), amount.held_in(width)], width)
        return bounded(self.terms, bits, self.low >> amount.high, self.high >> amount.low, False)

    def bit(self, place: int) -> Flag:
        """The bit of the number at a place."""
        return Flag(self.terms, self.terms.part(self.held_in(max(place + 1, self.bits.width)), place, place))

    def within(self, low: int, high: int) -> "Number":
        """The same number, known to lie between `low` and `high`; a value beyond them is lost."""
        return bounded(self.terms, self.bits, max(low, self.low), min(high, self.high), self.is_signed)

    def loosened(self, low: int, high: int) -> "Number":
        """The same number with its bounds widened to include `low` and `high`."""
        return bounded(self.terms, self.bits, min(low, self.low), max(high, self.high), self.is_signed)

    def _number(self, other: "Number | int") -> "Number":
        return Number.constant(self.terms, other) if isinstance(other, int) else other

    def _made(self, kind: Kind, other: "Number", low: int, high: int) -> "Number":
        width = width_of(low, high)
        return Number(self.terms, self.terms.apply(kind, [self.held_in(width), other.held_in(width)], width), low, high)

    def _compared(self, signed: Kind, unsigned: Kind, other: "Number") -> Flag:
        low, high = min(self.low, other.low), max(self.high, other.high)
        kind, width = (signed if low < 0 else unsigned), width_of(low, high)
        term = self.terms.manager.mk_term(kind, [self.held_in(width).term, other.held_in(width).term])
        return Flag(self.terms, self.terms.truth(term))


def bounded(terms: Terms, bits: Bits, low: int, high: int, signed: bool) -> Number:
    """Bits of a number, extended or truncated to the width that its bounds need."""
    return Number(terms, terms.extended(bits, width_of(low, high), signed), low, high)


def total(numbers: Sequence[Number]) -> Number:
    """The sum of numbers."""
    low, high = sum(number.low for number in numbers), sum(number.high for number in numbers)
    terms, width = numbers[0].terms, width_of(low, high)
    held = [number.held_in(width) for number in numbers]
    return Number(terms, reduce(lambda x, y: terms.apply(Kind.BV_ADD, [x, y], width), held), low, high)


def choose(flag: Flag, yes: Number, no: Number) -> Number:
    """One of two numbers, selected by a flag."""
    low, high = min(yes.low, no.low), max(yes.high, no.high)
    width = width_of(low, high)
    bits = flag.terms.choice(flag.bits, lambda: yes.held_in(width), lambda: no.held_in(width))
    return Number(flag.terms, bits, low, high)


def any_of(flags: Sequence[Flag]) -> Flag:
    """Whether any of the flags is set."""
    return reduce(lambda x, y: x | y, flags)


def all_of(flags: Sequence[Flag]) -> Flag:
    """Whether all of the flags are set."""
    return reduce(lambda x, y: x & y, flags)


def largest(numbers: Sequence[Number]) -> Number:
    """The largest of the numbers, found by comparing neighbours pairwise."""
    level = list(numbers)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [_larger(x, y) for x, y in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def _larger(x: Number, y: Number) -> Number:
    chosen = choose(x > y, x, y)
    return chosen.within(max(x.low, y.low), max(x.high, y.high))
