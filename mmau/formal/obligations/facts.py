"""Facts, of which every proof is made: each follows from an obligation for a solver and from earlier facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bitwuzla import Kind, Term

from mmau.formal.evaluation import in_order
from mmau.formal.netlist.terms import Terms


class IncompleteProof(Exception):
    """The facts do not lead to the statement that is to be proved."""


@dataclass(frozen=True, eq=False)
class Fact:
    """A formula that holds for every input that satisfies its guard, if its obligation and all earlier ones are proved."""

    formula: Term
    guard: Term | None
    proof: "Facts"

    def holds_under(self, guard: Term | None) -> bool:
        """Whether the fact holds for all inputs that satisfy a guard; None for all inputs."""
        return self.guard is None or (guard is not None and bool(self.guard == guard))

    @cached_property
    def wires(self) -> frozenset[Term]:
        """The variables of the formula."""
        return frozenset(supports([self.formula]))


@dataclass(frozen=True)
class Obligation:
    """A formula that must never be true.

    Attributes:
        name: the name of the step. violated: the formula: the assumptions and the negated conclusion.
        assumed, conclusions: its parts, with cut wires of the step replaced by their drivers.
    """

    name: str
    violated: Term
    assumed: tuple[Term, ...]
    conclusions: tuple[Term, ...]


class Facts:
    """The facts of one proof.

    Attributes:
        obligations: the formulas to prove, in order, each once.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.obligations: list[Obligation] = []
        self._facts: set[Fact] = set()

    def released(self, fact: Fact) -> Fact:
        """A fact whose guard is a premise of its formula.

        Raises:
            IncompleteProof: a fact of another proof.
        """
        if fact not in self._facts:
            raise IncompleteProof("only a fact of this proof can be released")
        if fact.guard is None:
            return fact
        free = Fact(self.terms.manager.mk_term(Kind.IMPLIES, [fact.guard, fact.formula]), None, self)
        self._facts.add(free)
        return free

    def _assumed(self, name: str, assume: Sequence[Fact], guard: Term | None) -> list[Term]:
        """The formulas that a step may assume under a guard, the guard among them.

        Raises:
            IncompleteProof: a fact of another proof or under another guard.
        """
        for fact in assume:
            if fact not in self._facts:
                raise IncompleteProof(f"{name} assumes a fact of another proof")
            if not fact.holds_under(guard):
                raise IncompleteProof(f"{name} assumes a fact that holds under another guard")
        return [fact.formula for fact in assume] + ([guard] if guard is not None else [])

    def _made(self, conclusions: Sequence[Term], guard: Term | None) -> list[Fact]:
        """New facts: their obligations must be there."""
        made = [Fact(conclusion, guard, self) for conclusion in conclusions]
        self._facts |= set(made)
        return made

    def _oblige(self, name: str, assumed: list[Term], conclusions: list[Term]) -> None:
        make = self.terms.manager.mk_term
        left = [conclusion for conclusion in conclusions if not is_trivial(conclusion)]
        if not left:
            return
        both = all_of(self.terms, left)
        negated = make(Kind.NOT, [both])
        violated = make(Kind.AND, [*assumed, negated]) if assumed else negated
        self.obligations.append(Obligation(name, violated, tuple(assumed), tuple(left)))


def is_trivial(formula: Term) -> bool:
    """Whether a formula states that a term equals itself."""
    return bool(formula.is_true() or (formula.kind() == Kind.EQUAL and formula.children()[0] == formula.children()[1]))


def all_of(terms: Terms, formulas: Sequence[Term]) -> Term:
    return formulas[0] if len(formulas) == 1 else terms.manager.mk_term(Kind.AND, formulas)


def supports(terms: Sequence[Term]) -> set[Term]:
    """The variables of terms."""
    return {term for term in in_order(terms) if term.is_const()}
