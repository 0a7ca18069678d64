"""Arithmetic modulo a power of two, for the parts of a sum."""

from collections.abc import Sequence
from functools import reduce

from bitwuzla import Kind, Term

from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.specification.numbers import Flag, Number


class Words:
    """Words of one width.

    Args:
        terms: makes terms. width: bits of every word.
    """

    def __init__(self, terms: Terms, width: int) -> None:
        self.terms, self.width = terms, width

    def number(self, value: int) -> Bits:
        """The constant `value` modulo 2**width."""
        return self.terms.number(value & ((1 << self.width) - 1), self.width)

    def of(self, number: Number) -> Bits:
        """A number modulo 2**width."""
        return number.held_in(self.width)

    def flag(self, flag: Flag) -> Bits:
        """A flag as a word: 0 or 1."""
        return self.terms.extended(flag.bits, self.width)

    def total(self, words: Sequence[Bits]) -> Bits:
        """The sum of words, modulo 2**width."""
        return reduce(lambda x, y: self.terms.apply(Kind.BV_ADD, [x, y], self.width), words)

    def minus(self, x: Bits, y: Bits) -> Bits:
        """x − y, modulo 2**width."""
        return self.terms.apply(Kind.BV_SUB, [x, y], self.width)

    def negative(self, word: Bits) -> Bits:
        """−word, modulo 2**width."""
        return self.terms.apply(Kind.BV_NEG, [word], self.width)

    def inverted(self, word: Bits) -> Bits:
        """The word with every bit inverted."""
        return self.terms.apply(Kind.BV_NOT, [word], self.width)

    def choice(self, flag: Flag, yes: Bits, no: Bits) -> Bits:
        """One of two words, selected by a flag."""
        return self.terms.choice(flag.bits, lambda: yes, lambda: no)

    def equal(self, x: Bits, y: Bits) -> Term:
        """The formula that two words are equal."""
        return self.terms.equal(x, y)

    def at_most(self, x: Bits, y: Bits) -> Term:
        """x ≤ y, both in two's complement."""
        return self.terms.manager.mk_term(Kind.BV_SLE, [x.term, y.term])

    def implies(self, premise: Term, formula: Term) -> Term:
        """The formula that the premise implies the conclusion."""
        return self.terms.manager.mk_term(Kind.IMPLIES, [premise, formula])

    def is_negative(self, word: Bits) -> Flag:
        """The sign of a word in two's complement."""
        return Flag(self.terms, self.terms.part(word, self.width - 1, self.width - 1))
