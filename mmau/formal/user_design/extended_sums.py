"""Extended sums rewritten as sums of extended terms, whose equality solvers see for any order of the terms.

A proof shows for each extension that the sum below it does not overflow.
"""

from collections.abc import Sequence
from dataclasses import replace

from bitwuzla import Kind, Term, TermManager

from mmau.formal.evaluation import in_order, number
from mmau.formal.user_design.asking import Limits, ask
from mmau.formal.user_design.folding import Folding

ONE = 0.2
"""Seconds for the question whether a sum may be extended term by term."""

_SUMS = {Kind.BV_ADD, Kind.BV_SUB, Kind.BV_NEG, Kind.ITE}


class Sums:
    """Extends sums term by term.

    Args:
        assumed: formulas that hold. limits: the limits of all questions.
    """

    def __init__(self, manager: TermManager, assumed: Sequence[Term], limits: Limits) -> None:
        self._manager, self._assumed = manager, assumed
        self._limits = replace(limits, question=min(ONE, limits.question))
        self._known: dict[Term, Term] = {}

    def of(self, root: Term) -> Term:
        """A term that equals `root` if the assumed formulas are true, with extended sums as sums of extended terms."""
        again = Folding(self._manager, {})
        for term in in_order([root]):
            again.replace(term, self._spread(again.of(term)))
        return again.of(root)

    def _spread(self, term: Term) -> Term:
        """An extended sum as a sum of extended terms, if both are equal."""
        if term not in self._known:
            self._known[term] = self._made(term)
        return self._known[term]

    def _made(self, term: Term) -> Term:
        inside = _extended(term)
        if inside is None or inside.kind() not in _SUMS or self._limits.over:
            return term
        operands = list(inside.children())
        kept = operands[:1] if inside.kind() == Kind.ITE else []
        wide = [self._again(term, operand) for operand in operands[len(kept) :]]
        other = self._manager.mk_term(inside.kind(), [*kept, *wide])
        differs = self._manager.mk_term(Kind.DISTINCT, [term, other])
        if ask(self._manager, [differs, *self._assumed], self._limits).verdict != "never":
            return term
        return self._manager.mk_term(inside.kind(), [*kept, *map(self._spread, wide)])

    def _again(self, term: Term, operand: Term) -> Term:
        """An operand extended as the term is."""
        if term.kind() == Kind.BV_CONCAT:
            return self._manager.mk_term(Kind.BV_CONCAT, [*term.children()[:-1], operand])
        return self._manager.mk_term(term.kind(), [operand], list(term.indices()))


def _extended(term: Term) -> Term | None:
    """The term that a zero or sign extension extends; None if the term is no extension."""
    children = term.children()
    if term.kind() in (Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND):
        return children[0]
    if term.kind() == Kind.BV_CONCAT and all(part.is_value() and not number(part) for part in children[:-1]):
        return children[-1]
    return None
