"""Whether a path through the states of a design is possible: small questions, to solvers that keep what they were told."""

import time
from collections.abc import Mapping, Sequence

import bitwuzla
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, variables, width
from mmau.prove.netlist.terms import Terms
from mmau.prove.user_design.asking import Limits

QUESTION = 2.0
"""Seconds for the question whether a path is possible."""

OFTEN = 16
"""A path through a loop is asked about with all that is known in every so many cycles."""


class Possible:
    """Tells whether paths are possible; in doubt they are.

    Questions are put to three solvers that keep what they were told: about the last conditions alone; with the meanings of
    the variables in them, in which products are variables; and about the whole path with all meanings.

    Args:
        meaning: what variables stand for.
    """

    def __init__(self, terms: Terms, limits: Limits, meaning: Mapping[Term, Term] | None = None) -> None:
        self._terms, self._limits, self._meaning = terms, limits, meaning or {}
        self._end, self.answer = 0.0, bitwuzla.Result.UNKNOWN
        self._solvers = [self._solver() for _ in range(3)]
        self._told: list[set[Term]] = [set() for _ in self._solvers]
        self._products: dict[Term, Term] = {}

    def recent(self, conditions: Sequence[Term]) -> bool:
        """Whether conditions may hold together, whatever variables stand for."""
        return self._possible(0, conditions)

    def path(self, path: Sequence[Term], new: int, cycles: int, unconditional: bool) -> bool:
        """Whether a path may be taken.

        Args:
            new: the number of its last conditions that are new. cycles: how many cycles it has in its loop.
            unconditional: whether it stays in the loop without a condition.
        """
        last = path[-new - 2 :]
        if not self._possible(0, last):
            return False
        if unconditional or cycles <= 2 or not cycles % OFTEN:
            if not self._possible(1, last):
                return False
            if unconditional or not cycles & (cycles - 1):
                return self._possible(2, path)
        return True

    def equal_to(self, conditions: Sequence[Term], term: Term, others: Sequence[Term]) -> Term | None:
        """A number or one of several terms to which a term is always equal where conditions hold; None if there is none."""
        make = self._terms.manager.mk_term
        if self._possible(0, conditions) and self.answer == bitwuzla.Result.SAT:
            for other in (self._solvers[0].get_value(term), *(each for each in others if each.sort() == term.sort())):
                if not self._possible(0, [*conditions, make(Kind.DISTINCT, [term, other])]):
                    return other
        return None

    def _solver(self) -> bitwuzla.Bitwuzla:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        solver = bitwuzla.Bitwuzla(self._terms.manager, options)
        solver.configure_terminator(lambda: time.process_time() > self._end or self._limits.over)
        return solver

    def _possible(self, which: int, conditions: Sequence[Term]) -> bool:
        self._end = time.process_time() + QUESTION
        solver = self._solvers[which]
        if which:
            self._tell(which, conditions)
        asked = [self._loosened(each) if which == 1 else each for each in conditions if not each.is_true()]
        self.answer = solver.check_sat(*asked)
        return bool(self.answer != bitwuzla.Result.UNSAT)

    def _tell(self, which: int, conditions: Sequence[Term]) -> None:
        """Tell a solver what the variables mean on which conditions depend."""
        left, told = list(conditions), self._told[which]
        while left:
            for free in variables([left.pop()]):
                if free in self._meaning and free not in told:
                    told.add(free)
                    term = self._meaning[free]
                    left.append(term)
                    term = self._loosened(term) if which == 1 else term
                    self._solvers[which].assert_formula(self._terms.manager.mk_term(Kind.EQUAL, [free, term]))

    def _loosened(self, formula: Term) -> Term:
        """A formula with variables in place of products."""
        for term in in_order([formula]):
            if term.kind() == Kind.BV_MUL and term not in self._products:
                self._products[term] = self._terms.free("product", width(term)).term
        return self._terms.manager.substitute_term(formula, self._products) if self._products else formula
