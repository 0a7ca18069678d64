"""The operands of an operation in cases, of which one always holds: proofs go case by case."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from bitwuzla import Kind, Term

from formal.own.asking import Limits, ask
from formal.specification.keep import Keep, V
from formal.specification.numbers import Flag
from formal.specification.values import Exponent, Operand
from rtl.verilog.terms import Terms

COMPLETE = 5.0
"""Seconds for the question whether there are operands in none of the cases."""


@dataclass(frozen=True)
class Case:
    """Some of the operands: those for which all assumptions hold."""

    name: str
    assumptions: tuple[Term, ...] = ()


class IncompleteCases(Exception):
    """There are operands in none of the cases."""


@dataclass
class Kept(Keep):
    """Notes what cases are made of.

    Attributes:
        finite: that no term of a sum is special, where there are such. exponents: that terms are aligned to.
    """

    finite: Flag | None = None
    exponents: list[Exponent] = field(default_factory=list)

    def value(self, name: str, value: V) -> V:
        if isinstance(value, Exponent):
            self.exponents.append(value)
        return value

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        self.finite = finite


def cases_of(terms: Terms, kept: Kept) -> list[Case]:
    """Special values; sums of zeros alone, whose largest exponent is nobody's; and all the rest."""
    make = terms.manager.mk_term
    found, rest = list[Case](), tuple[Term, ...]()
    if kept.finite is not None:
        finite = terms.is_nonzero(kept.finite.bits)
        found.append(Case("special values", (make(Kind.NOT, [finite]),)))
        rest = (finite,)
    for number, exponent in enumerate(kept.exponents):
        empty = [
            make(Kind.EQUAL, [term.sig.bits.term, terms.number(0, term.sig.bits.width).term]) for term in exponent.terms
        ]
        zeros = make(Kind.AND, empty) if len(empty) > 1 else empty[0]
        name = "zeros alone" if len(kept.exponents) == 1 else f"zeros alone in sum {number}"
        found.append(Case(name, (*rest, zeros)))
        rest = (*rest, make(Kind.NOT, [zeros]))
    return [*found, Case("all other operands", rest)]


def check_complete(terms: Terms, cases: Sequence[Case]) -> None:
    """Check that every operands are in one of the cases.

    Raises:
        IncompleteCases: no solver can say so.
    """
    make = terms.manager.mk_term
    outside = [make(Kind.NOT, [_all(terms, case.assumptions)]) for case in cases]
    if ask(terms.manager, outside, Limits(inf, COMPLETE)).verdict != "never":
        raise IncompleteCases(f"not all operands are in one of the cases: {', '.join(case.name for case in cases)}")


def _all(terms: Terms, formulas: Sequence[Term]) -> Term:
    if not formulas:
        return terms.manager.mk_true()
    return formulas[0] if len(formulas) == 1 else terms.manager.mk_term(Kind.AND, list(formulas))
