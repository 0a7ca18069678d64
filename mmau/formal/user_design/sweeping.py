"""Proof of a design's result along its wires: wires that hold a value of the specification are found, proved to hold it, and
replaced by it.

So the design may have any structure: a solver must only show the equality of two computations between one value that the
design shares with the specification and the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bitwuzla import Kind, Term

from mmau.formal.evaluation import in_order, variables, width
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.user_design.asking import Found, Limits, ask
from mmau.formal.user_design.folding import Folding
from mmau.formal.user_design.matching import Guess, Matching
from mmau.formal.user_design.row_evaluation import Column, columns
from mmau.formal.user_design.splitting import ask_split

WIRING = {Kind.BV_CONCAT, Kind.BV_EXTRACT, Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND}


@dataclass
class Progress:
    """The progress of a sweep: the wires that hold a value of the specification in all tried rows, and those that are proved
    to."""

    guessed: int = 0
    proved: int = 0


class Sweep:
    """Decides one case of a comparison.

    Args:
        terms: makes terms. got, specified: the results of the design and of the specification. assumed: formulas that
            hold in the case.
        values: the values of all variables, one per row of operands.
    """

    def __init__(
        self, terms: Terms, got: Term, specified: Term, assumed: Sequence[Term], values: Mapping[Term, Column]
    ) -> None:
        self._terms, self._assumed, self.progress = terms, list(assumed), Progress()
        self._got, self._specified = got, set(in_order([specified]))
        found = columns([got, specified, *assumed], values)
        counts = np.ones(len(next(iter(values.values()))), dtype=bool)
        for formula in assumed:
            counts &= found[formula].astype(bool)
        self._columns = {term: column[counts] for term, column in found.items()} if counts.any() else {}
        self._matching = Matching(terms, specified, self._columns) if self._columns else None
        self._cuts: dict[Term, Term] = {}
        self._facts: dict[Term, Term] = {}

    def swept(self, limits: Limits) -> Term:
        """The design's result with wires replaced by values of the specification that they are proved to hold."""
        if self._matching is None:
            return self._got
        known: dict[Term, Term] = {}
        again = Folding(self._terms.manager, known)
        for wire in in_order([self._got]):
            made = again.of(wire)
            if (
                limits.over
                or made in self._specified
                or wire.sort().is_bool()
                or wire.kind() in WIRING
                or not made.children()
            ):
                continue
            guess = self._proved_guess(wire, made, limits)
            if guess is not None:
                again.replace(wire, guess.expression)
        return again.of(self._got)

    def _proved_guess(self, wire: Term, made: Term, limits: Limits) -> Guess | None:
        assert self._matching is not None
        for number, guess in enumerate(self._matching.guesses(wire, self._columns[wire])):
            self.progress.guessed += number == 0
            differs = self._terms.manager.mk_term(Kind.DISTINCT, [made, guess.expression])
            if made == guess.expression or self.asked(differs, limits, guess.base).verdict == "never":
                self.progress.proved += 1
                if guess.base is not None and guess.base not in self._cuts:
                    self._cut(guess.base, limits)
                if guess.base is not None and made != guess.expression:
                    self._facts[guess.base] = self._terms.manager.mk_term(Kind.EQUAL, [made, guess.expression])
                return guess
        return None

    def _cut(self, value: Term, limits: Limits) -> None:
        """Allow a variable in place of a value; the fact that its upper bits are zero, if they are, is retained."""
        bits, used = width(value), max(map(int, self._columns[value])).bit_length()
        if used < bits:
            upper = self._terms.part(Bits(value, bits), bits - 1, used)
            if self.asked(self._terms.is_nonzero(upper), limits).verdict == "never":
                self._assumed.append(self._terms.manager.mk_term(Kind.NOT, [self._terms.is_nonzero(upper)]))
        self._cuts[value] = self._terms.manager.mk_const(value.sort(), f"value {len(self._cuts)}")

    def asked(self, formula: Term, limits: Limits, base: Term | None = None, values_of: Sequence[Term] = ()) -> Found:
        """Whether a formula is ever true in this case.

        The solver is asked up to three times: first with values of the specification that wires hold, except `base`,
            replaced by unconstrained variables; then
        with the terms of these wires, too; then in full.
        """
        manager, formulas = self._terms.manager, [formula, *self._assumed]
        cuts = {value: free for value, free in self._cuts.items() if base is None or value != base}
        if cuts:
            loosened = [manager.substitute_term(each, cuts) for each in formulas]
            if ask_split(manager, loosened[0], loosened[1:], limits) == "never":
                return Found("never")
            facts = [manager.substitute_term(fact, cuts) for fact in self._facts_about(loosened[0], cuts)]
            if facts and ask_split(manager, loosened[0], [*loosened[1:], *facts], limits) == "never":
                return Found("never")
        return ask(manager, formulas, limits, values_of)

    def _facts_about(self, loosened: Term, cuts: Mapping[Term, Term]) -> list[Term]:
        """The proved facts about the values in a formula."""
        visible = set(variables([loosened]))
        return [fact for value, fact in self._facts.items() if value in cuts and cuts[value] in visible]
