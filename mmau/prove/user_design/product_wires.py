"""The wires of a design that hold a product of the specification, whatever circuit multiplies: rows and adders, digits of a
Booth multiplier, parts of factors.

Wires that show the product for all rows of operands are read as polynomials (polynomials.py), down to the bits of the
factors. A bit of a factor that is no bit of an operand, the hidden one, is found in the design by its values; whether it is
the same wherever some formulas hold is asked a solver.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, width
from mmau.prove.netlist.gates import NO, Gates, Literal, Word
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.adders import with_sums
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.polynomials import TooLarge, bit, is_zero, product, total
from mmau.prove.user_design.row_evaluation import Column, columns

MULTIPLIED, BIT = 20.0, 0.5
"""Seconds for the question whether a wire holds a product, and for that whether a bit is one of a factor."""


def holding(
    terms: Terms, got: Term, x: Bits, y: Bits, assumed: Sequence[Term], rows: Mapping[Term, Column], limits: Limits
) -> Iterator[Term]:
    """The wires of a design that are x·y wherever the assumed formulas hold, each without those that are made of it.

    Args:
        rows: values of the variables for which these hold.
    """
    found, bits = columns([got, x.term, y.term], rows), x.width + y.width
    wanted = found[x.term].astype(object) * found[y.term].astype(object)
    if not len(wanted) or not wanted.any():
        return
    factors, done = _Factors(terms, x, y, assumed, found, limits), set[Term]()
    for wire in in_order([got]):
        if any(child in done for child in wire.children()):
            done.add(wire)
        elif width(wire) >= bits and not wire.is_const() and (found[wire] == wanted).all():
            done.add(wire)
            if factors.is_product(wire):
                yield wire


class _Factors:
    """Tells whether wires hold the product of two factors.

    Args:
        found: the values of all terms, row by row.
    """

    def __init__(
        self, terms: Terms, x: Bits, y: Bits, assumed: Sequence[Term], found: Mapping[Term, Column], limits: Limits
    ) -> None:
        self._terms, self._assumed, self._found, self._limits = terms, list(assumed), found, limits
        self._hidden = dict[bytes, tuple[Term, Literal]]()
        self._gates = Gates(self._renamed)
        self._x, self._y = (self._gates.word(factor.term) for factor in (x, y))
        self._product = product(*(total((1 << k, bit(each)) for k, each in enumerate(word)) for word in (self._x, self._y)))
        self._leaves = {literal >> 1 for literal in (*self._x, *self._y)}
        for factor, word in ((x, self._x), (y, self._y)):
            for place, literal in enumerate(word):
                if self._gates.all[literal >> 1].inputs:
                    shown = self._shown(factor.term, place)
                    self._hidden[shown] = terms.part(factor, place, place).term, literal

    def is_product(self, wire: Term) -> bool:
        """Whether a wire holds the product wherever the formulas hold."""
        try:
            word = self._gates.word(with_sums(self._terms, wire, self._limits))
            while len(word) > len(self._x) + len(self._y) and word[-1] == NO:
                word = word[:-1]
            held = [(1 << place, bit(literal)) for place, literal in enumerate(word)]
            limits = Limits(self._limits.end, MULTIPLIED, self._limits.clock)
            return is_zero(self._gates, total([*held, (-1, self._product)]), len(word), self._leaves, limits)
        except (TooLarge, ValueError):
            return False

    def _renamed(self, term: Term, word: Word) -> Word:
        """A word with the bits of factors in place of those that are proved to be the same."""
        if not self._hidden or term not in self._found:
            return word
        return tuple(self._bit(term, place, literal) for place, literal in enumerate(word))

    def _bit(self, term: Term, place: int, literal: Literal) -> Literal:
        if literal >> 1 in self._leaves or not self._gates.all[literal >> 1].inputs:
            return literal
        hidden, other = self._hidden.get(self._shown(term, place), (None, literal))
        if hidden is None:
            return literal
        mine = self._terms.truth(term) if term.sort().is_bool() else Bits(term, width(term))
        part = self._terms.part(mine, place, place)
        differs = self._terms.manager.mk_term(Kind.DISTINCT, [part.term, hidden])
        limits = Limits(self._limits.end, BIT, self._limits.clock)
        same = ask(self._terms.manager, [differs, *self._assumed], limits).verdict == "never"
        return other if same else literal

    def _shown(self, term: Term, place: int) -> bytes:
        """The values of a bit, row by row."""
        column = self._found[term]
        return np.array((column >> place) & 1, dtype=bool).tobytes()
