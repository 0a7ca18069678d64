"""Cases of the operands of an operation that cover all operands: a proof proceeds case by case."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from bitwuzla import Kind, Term

from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.numbers import Flag
from mmau.prove.specification.observer import Observer, V
from mmau.prove.specification.step_results import Exponent, Operand
from mmau.prove.user_design.asking import Limits, ask

COMPLETE = 5.0
"""Seconds for the question whether there are operands in none of the cases."""


@dataclass(frozen=True)
class Case:
    """A set of operands: those that satisfy all assumptions."""

    name: str
    assumptions: tuple[Term, ...] = ()


class IncompleteCases(Exception):
    """Some operands are in none of the cases."""


@dataclass
class CaseParts(Observer):
    """Records the parts of a specification that define the cases.

    Attributes:
        finite: whether no term of a sum is special; None if no term can be. exponents: to which terms are aligned.
    """

    finite: Flag | None = None
    exponents: list[Exponent] = field(default_factory=list)

    def value(self, name: str, value: V) -> V:
        if isinstance(value, Exponent):
            self.exponents.append(value)
        return value

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        self.finite = finite


def cases_of(terms: Terms, parts: CaseParts) -> list[Case]:
    """The cases: special values; sums of zeros alone, whose largest exponent belongs to no term; all other operands."""
    make = terms.manager.mk_term
    found, rest = list[Case](), tuple[Term, ...]()
    if parts.finite is not None:
        finite = terms.is_nonzero(parts.finite.bits)
        found.append(Case("special values", (make(Kind.NOT, [finite]),)))
        rest = (finite,)
    for number, exponent in enumerate(parts.exponents):
        empty = [
            make(Kind.EQUAL, [term.sig.bits.term, terms.number(0, term.sig.bits.width).term]) for term in exponent.terms
        ]
        zeros = make(Kind.AND, empty) if len(empty) > 1 else empty[0]
        name = "zeros alone" if len(parts.exponents) == 1 else f"zeros alone in sum {number}"
        found.append(Case(name, (*rest, zeros)))
        rest = (*rest, make(Kind.NOT, [zeros]))
    return [*found, Case("all other operands", rest)]


def check_complete(terms: Terms, cases: Sequence[Case]) -> None:
    """Check that all operands are in one of the cases.

    Raises:
        IncompleteCases: the solver does not prove that they are.
    """
    make = terms.manager.mk_term
    outside = [make(Kind.NOT, [_all(terms, case.assumptions)]) for case in cases]
    if ask(terms.manager, outside, Limits(inf, COMPLETE)).verdict != "never":
        raise IncompleteCases(f"not all operands are in one of the cases: {', '.join(case.name for case in cases)}")


def _all(terms: Terms, formulas: Sequence[Term]) -> Term:
    if not formulas:
        return terms.manager.mk_true()
    return formulas[0] if len(formulas) == 1 else terms.manager.mk_term(Kind.AND, list(formulas))
