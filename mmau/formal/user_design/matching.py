"""Guesses which wires of a design hold values of a specification, from both sides' values for rows of operands.

A wire may hold a value with a sign or without, negated, in units of another power of two, or with another bias. A guess must
be proved before it is used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from bitwuzla import Kind, Term

from mmau.formal.evaluation import in_order, width
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.user_design.row_evaluation import Column, signed

LEAST = 3
"""Least width of a wire that is compared in other units or with another bias: narrow wires agree too often by chance."""


@dataclass(frozen=True)
class Guess:
    """A candidate value of a wire.

    Attributes:
        base: a value of the specification; None for a constant. expression: the expression of the base.
    """

    base: Term | None
    expression: Term


@dataclass(frozen=True)
class _Reading:
    """A value with or without a sign, negated or not; `place`: trailing zeros of all rows, or the first row's value."""

    term: Term
    is_signed: bool
    negated: bool
    place: int


class Matching:
    """Values of a specification, indexed by their values for rows of operands.

    Args:
        terms: makes terms. specified: the specification. columns: the values of its terms, for the relevant rows.
    """

    def __init__(self, terms: Terms, specified: Term, columns: Mapping[Term, Column]) -> None:
        self._terms = terms
        self._exact: dict[tuple[int, tuple[int, ...]], Term] = {}
        self._shifted: dict[tuple[int, ...], _Reading] = {}
        self._biased: dict[tuple[int, ...], _Reading] = {}
        for term in in_order([specified]):
            if not term.is_value() and not term.sort().is_bool() and not is_constant(columns[term]):
                self._note(term, columns[term])

    def _note(self, term: Term, column: Column) -> None:
        self._exact.setdefault((width(term), tuple(column)), term)
        for is_signed, values in readings(column, width(term)):
            zeros = zeros_below(values)
            for negated, each in ((False, values), (True, -values)):
                self._shifted.setdefault(tuple(each >> zeros), _Reading(term, is_signed, negated, zeros))
                self._biased.setdefault(tuple(each - each[0]), _Reading(term, is_signed, negated, each[0]))

    def guesses(self, wire: Term, column: Column) -> Iterator[Guess]:
        """The candidate values of a wire, the likeliest first."""
        bits = width(wire)
        if is_constant(column):
            yield Guess(None, self._terms.number(int(column[0]), bits).term)
            return
        exact = self._exact.get((bits, tuple(column)))
        if exact is not None:
            yield Guess(exact, exact)
        elif bits == 1:
            other = self._exact.get((1, tuple(1 - column)))
            if other is not None:
                yield Guess(other, self._terms.apply(Kind.BV_NOT, [Bits(other, 1)], 1).term)
        elif bits >= LEAST:
            yield from self._relative(bits, column)

    def _relative(self, bits: int, column: Column) -> Iterator[Guess]:
        for _, values in readings(column, bits):
            zeros = zeros_below(values)
            found = self._shifted.get(tuple(values >> zeros))
            if found is not None and (zeros >= found.place or not found.negated):
                yield Guess(found.term, self._in_units(found, bits, zeros - found.place))
            found = self._biased.get(tuple(values - values[0]))
            if found is not None:
                bias = self._terms.number(int(values[0] - found.place) % (1 << bits), bits)
                held = self._held(found, Bits(found.term, width(found.term)), bits)
                yield Guess(found.term, self._terms.apply(Kind.BV_ADD, [held, bias], bits).term)

    def _in_units(self, reading: _Reading, bits: int, places: int) -> Term:
        """The reading times 2**places; for places < 0 no one is lost."""
        terms, value = self._terms, Bits(reading.term, width(reading.term))
        if places <= 0:
            return self._held(reading, terms.part(value, value.width - 1, -places), bits).term
        if places >= bits:
            return terms.number(0, bits).term
        high = self._held(reading, value, bits - places)
        return terms.joined([high, terms.number(0, places)]).term

    def _held(self, reading: _Reading, value: Bits, bits: int) -> Bits:
        held = self._terms.extended(value, bits, reading.is_signed)
        return self._terms.apply(Kind.BV_NEG, [held], bits) if reading.negated else held


def readings(column: Column, bits: int) -> Iterator[tuple[bool, Column]]:
    """The numbers in bits, read without a sign and, if that differs, with one."""
    yield False, column
    if any(column >> (bits - 1)):
        yield True, signed(column, bits)


def is_constant(column: Column) -> bool:
    """Whether all rows have the same number."""
    return bool((column == column[0]).all())


def zeros_below(column: Column) -> int:
    """The number of trailing zeros that all rows have."""
    ones = reduce(or_, map(int, column), 0)
    return max(0, (ones & -ones).bit_length() - 1)
