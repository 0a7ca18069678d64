"""The adders of a design, however they find their carries: words whose upper parts are always the sums of two others.

Carries that skip, as in a parallel-prefix adder, make polynomials too large (polynomials.py). The words that an adder takes
are found by their values, and a solver shows of the adder alone that it adds.
"""

from collections.abc import Iterator, Mapping
from random import Random

import numpy as np
import numpy.typing as npt
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, variables, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.row_evaluation import Column, columns

ROWS = 16
"""Random values of the variables."""

LEAST = 6
"""Least width of an adder: narrower words are sums of others by chance."""

BELOW = 8
"""Most bits of a word that lie below its adder, plus 1: there one of the two words has no bits."""

TRIED, ADDS, SECONDS = 3, 1.0, 5.0
"""Pairs of words that a solver is asked about, of each place, seconds for each, and for all adders."""

_PLAIN = {Kind.BV_ADD, Kind.BV_NEG, Kind.BV_NOT, Kind.BV_EXTRACT, Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND, Kind.ITE}
"""Kinds of words that are no adders, or whose parts are looked at."""


def with_sums(terms: Terms, root: Term, limits: Limits) -> Term:
    """A term that always is this one, with sums in place of the adders that were found."""
    free = variables([root])
    if not free:
        return root
    limits = Limits(min(limits.end, limits.clock() + SECONDS), ADDS, limits.clock)
    random = Random(1)
    found = columns([root], {each: _drawn(random, max(1, width(each))) for each in free})
    words, again = _Words(found), Folding(terms.manager, {})
    for word in in_order([root]):
        if width(word) < 2 or word.is_value() or limits.over:
            continue
        if width(word) >= LEAST and word.children() and word.kind() not in _PLAIN:
            added = _as_sum(terms, word, words, again, limits)
            if added is not None:
                again.replace(word, added)
        words.add(word)
    return again.of(root)


def _as_sum(terms: Terms, word: Term, words: "_Words", again: Folding, limits: Limits) -> Term | None:
    """The sum that a word is proved to be, of words in which adders are replaced; None if there is none."""
    whole, manager = Bits(word, width(word)), terms.manager
    for place in range(min(BELOW, whole.width - LEAST + 1) if word.kind() == Kind.BV_CONCAT else 1):
        upper = terms.part(whole, whole.width - 1, place)
        for pair in words.pairs(word, place):
            x, y = (terms.extended(Bits(each, width(each)), upper.width) for each in pair)
            added = terms.apply(Kind.BV_ADD, [x, y], upper.width)
            differs = manager.substitute_term(
                terms.differs(upper, added), {each: manager.mk_const(each.sort()) for each in pair}
            )
            if ask(manager, [differs], limits).verdict == "never":
                added = Bits(again.of(added.term), added.width)
                lower = Bits(again.of(terms.part(whole, place - 1, 0).term), place) if place else None
                return added.term if lower is None else terms.joined([added, lower]).term
    return None


class _Words:
    """Words that were met, by the lowest 64 bits of their values.

    Args:
        found: the values of all words, row by row.
    """

    def __init__(self, found: Mapping[Term, Column]) -> None:
        self._found, self._words = found, list[Term]()
        self._values = np.zeros((ROWS, len(found)), np.uint64)

    def add(self, word: Term) -> None:
        """Add a word."""
        self._values[:, len(self._words)] = self._low(word)
        self._words.append(word)

    def pairs(self, word: Term, place: int) -> Iterator[tuple[Term, Term]]:
        """The first pairs of words whose sum is a word from a place on, in all rows, with a carry in one of them."""
        bits, values = width(word) - place, self._values[:, : len(self._words)]
        mask = np.uint64((1 << min(bits, 64)) - 1)
        rest = (self._low(word, place)[:, None] - values) & mask
        hits = np.flatnonzero(np.isin(rest[0], values[0]))
        tried = 0
        for k in hits:
            for j in np.flatnonzero((values == rest[:, k : k + 1]).all(axis=0)):
                x, y = self._words[k], self._words[j]
                if k <= j and width(x) <= bits and width(y) <= bits and (values[:, k] & values[:, j]).any():
                    yield x, y
                    tried += 1
                    if tried == TRIED:
                        return

    def _low(self, word: Term, place: int = 0) -> npt.NDArray[np.uint64]:
        return np.array([int(each) >> place & (1 << 64) - 1 for each in self._found[word]], np.uint64)


def _drawn(random: Random, bits: int) -> Column:
    return np.array([random.getrandbits(bits) for _ in range(ROWS)], dtype=object)
