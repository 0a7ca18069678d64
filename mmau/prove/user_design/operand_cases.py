"""Cases of the operands of an operation that cover all operands: a proof proceeds case by case."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf

from bitwuzla import Kind, Term

from golden.arithmetic.conversion import Conversion
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.observer import Observer, V
from mmau.prove.specification.rounded_sums import OnceRounded, RoundedSum
from mmau.prove.specification.step_results import Exponent, Operand, Special
from mmau.prove.specification.step_results import Term as Summand
from mmau.prove.user_design.asking import Limits, ask

COMPLETE = 5.0
"""Seconds for the question whether there are operands in none of the cases."""

APART = 4
"""Distance beyond the fraction bits of a term from which on its last bit lies above the rounded bits of the other."""

WIDE, WIDE_SUM = 12, 6
"""Distances of a range in which a product and c overlap, and of one in which two operands do: wider, its question is harder
than those of its halves together."""


CLOSE = 1
"""Distance up to which terms of unlike signs cancel in more than one bit: such distances have a range of their own."""


@dataclass(frozen=True)
class Distance:
    """How far the exponent of one of two terms lies above the other's.

    Attributes:
        far, near: below `far` the first term ends before the second begins, from `near` on the second before the first.
        subtracts: whether the terms have unlike signs. wide: the most distances of a range between `far` and `near`.
    """

    number: Number
    far: int
    near: int
    subtracts: Flag
    wide: int

    @classmethod
    def between(cls, x: Summand, y: Summand, wide: int) -> "Distance":
        """The distance of x above y."""
        return cls(x.exp - y.exp, -(y.frac + APART), x.frac + APART, x.sign ^ y.sign, wide)


@dataclass(frozen=True)
class Case:
    """A set of operands: those that satisfy all assumptions.

    Attributes:
        distance: of the two terms of the sum; None if the case is not divided by it.
        low, high: the least and the greatest distance in this case.
        is_of_signs: whether both terms have like signs, or unlike ones, in all of it.
    """

    name: str
    assumptions: tuple[Term, ...] = ()
    distance: Distance | None = None
    low: int = 0
    high: int = 0
    is_of_signs: bool = False

    def ranges(self) -> list["Case"]:
        """Cases of ranges of distances, those where the terms do not overlap first; none if there is no distance."""
        if self.distance is None:
            return []
        far, near, wide = self.distance.far, self.distance.near, self.distance.wide
        below, above = range(-CLOSE, far + wide // 2 - 1, -wide), range(CLOSE + 1, near - wide // 2 + 1, wide)
        edges = [far, *reversed(below), *above, near]
        ranges = [(self.low, far - 1), (near, self.high), *((low, high - 1) for low, high in pairwise(edges))]
        inside = [(max(low, self.low), min(high, self.high)) for low, high in ranges]
        return [self.part(low, high) for low, high in inside if low <= high]

    def halves(self) -> list["Case"]:
        """Two cases with half the distances each; of one distance, those of like and of unlike signs; none of these."""
        if self.distance is None or self.is_of_signs:
            return []
        if self.low == self.high:
            signs = (("like", ~self.distance.subtracts), ("unlike", self.distance.subtracts))
            parts = [self.where(f"{self.name}, {name} signs", flag.holds) for name, flag in signs]
            return [replace(part, is_of_signs=True) for part in parts]
        middle = (self.low + self.high) // 2
        return [self.part(self.low, middle), self.part(middle + 1, self.high)]

    @property
    def distances(self) -> range:
        """The distances in this case."""
        return range(self.low, self.high + 1)

    def where(self, name: str, formula: Term) -> "Case":
        """The operands of this case for which a formula holds."""
        return replace(self, name=name, assumptions=(*self.assumptions, formula))

    def part(self, low: int, high: int) -> "Case":
        """The case of a range of distances."""
        assert self.distance is not None
        number = self.distance.number
        name = f"exponents {low} to {high} apart" if low < high else f"exponents {low} apart"
        holds = ((number >= low) & (number <= high)).holds
        return replace(self.where(name, holds), low=low, high=high)


class IncompleteCases(Exception):
    """Some operands are in none of the cases."""


@dataclass
class CaseParts(Observer):
    """Records the parts of a specification that define the cases.

    Attributes:
        roundings: those that an input chooses, each with the condition that it does; empty for that of the operation.
        finite: whether no term of a sum is special; None if no term can be. exponents: to which terms are aligned.
        summands: the terms of the sum, products and c. has_products: whether one of them is a product.
    """

    roundings: Sequence[tuple[Term, Conversion]] = ()
    finite: Flag | None = None
    exponents: list[Exponent] = field(default_factory=list)
    summands: list[Summand] = field(default_factory=list)
    has_products: bool = False

    def value(self, name: str, value: V) -> V:
        if isinstance(value, Exponent):
            self.exponents.append(value)
        return value

    def term(self, name: str, term: Summand, special: Special, special_name: str = "") -> tuple[Summand, Special]:
        self.summands.append(term)
        self.has_products |= not name.startswith("addend")
        return term, special

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        self.finite = finite

    def only(self, special: Special, pairs: Sequence[tuple[Summand, Special]]) -> None:
        if self.finite is None:
            self.finite = special.finite

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        return self.summed(summed)

    def summed(self, summed: OnceRounded) -> Bits:
        code = self.once_rounded(summed)
        for holds, rho in self.roundings:
            other = self.once_rounded(summed.rounded_by(replace(summed.rounding, rho=rho)))
            make = summed.terms[0].exp.terms.manager.mk_term
            code = Bits(make(Kind.ITE, [holds, other.term, code.term]), code.width)
        return code

    def once_rounded(self, summed: OnceRounded) -> Bits:
        """The code of a finite rounded sum in its own mode."""
        return summed.code()


def cases_of(terms: Terms, parts: CaseParts) -> list[Case]:
    """The cases: special values; a product of zero, if the sum is of it and c; of other sums zeros alone, whose largest
    exponent belongs to no term; all other operands."""
    make = terms.manager.mk_term
    found, rest = list[Case](), tuple[Term, ...]()
    if parts.finite is not None:
        finite = parts.finite.holds
        found.append(Case("special values", (make(Kind.NOT, [finite]),)))
        rest = (finite,)
    if len(parts.summands) == 2:
        product, c = parts.summands
        zero = product.sig.is_zero().holds
        distance = Distance.between(product, c, WIDE if parts.has_products else WIDE_SUM)
        other = (*rest, make(Kind.NOT, [zero]))
        found.append(Case("a product of zero" if parts.has_products else "a zero", (*rest, zero)))
        return [*found, Case("all other operands", other, distance, distance.number.low, distance.number.high)]
    for number, exponent in enumerate(parts.exponents):
        empty = [
            make(Kind.EQUAL, [term.sig.bits.term, terms.number(0, term.sig.bits.width).term]) for term in exponent.terms
        ]
        zeros = make(Kind.AND, empty) if len(empty) > 1 else empty[0]
        name = "zeros alone" if len(parts.exponents) == 1 else f"zeros alone in sum {number}"
        found.append(Case(name, (*rest, zeros)))
        rest = (*rest, make(Kind.NOT, [zeros]))
    return [*found, Case("all other operands", rest)]


def check_complete(terms: Terms, cases: Sequence[Case], whole: Case | None = None) -> None:
    """Check that all operands, or all of another case, are in one of the cases.

    Raises:
        IncompleteCases: the solver does not prove that they are.
    """
    make = terms.manager.mk_term
    outside = [make(Kind.NOT, [terms.all_of(case.assumptions)]) for case in cases]
    inside = () if whole is None else whole.assumptions
    if ask(terms.manager, [*inside, *outside], Limits(inf, COMPLETE)).verdict != "never":
        raise IncompleteCases(f"not all operands are in one of the cases: {', '.join(case.name for case in cases)}")
