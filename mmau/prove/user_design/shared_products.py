"""Products that a design and the specification share: one variable in place of a multiplication on both sides.

No solver shows that two circuits of multipliers agree, let alone through an addition and a rounding. Where a design
multiplies the factors of the specification, as is asked under the formulas of a case, the product is the same number on
both sides: a variable about which a few facts are known. Each fact is proved of all factors. The variable has every value
that the product can have, and more; so what never holds for any of its values never holds, but values for which something
holds show nothing by themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import in_order, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.row_evaluation import Column, columns

SAME, FACT = 1.0, 2.0
"""Seconds for the question whether factors are the same, and for the proof of one fact about all products."""

FACTS = (
    "it is 0 where a factor is, and nowhere else", "it is at most that of the largest factors",
    "it is at least y · 2^(n-1) where x has the highest of its n bits", "the same of y",
)  # fmt: skip
"""The facts about a product x · y, in the order of `facts`."""


@dataclass(frozen=True)
class Product:
    """A multiplication of the specification: its term, and its factors without the zeros in front of them."""

    term: Term
    x: Bits
    y: Bits


class SharedProducts:
    """The multiplications of a design that are those of the specification wherever some formulas hold.

    Args:
        assumed: the formulas. rows: values of the variables, one per row of operands: the multiplications that they show to
            differ are not asked about.

    Attributes:
        complete: whether each multiplication of the specification is one of the design.
    """

    def __init__(
        self, terms: Terms, got: Term, specified: Term, assumed: Sequence[Term], rows: Mapping[Term, Column], limits: Limits
    ) -> None:
        self._terms, self._assumed = terms, tuple(assumed)
        self._by: dict[Term, Term] = {}
        self._facts = list[Term]()
        self.complete = False
        products = [_product(term) for term in in_order([specified]) if _multiplies(term)]
        mine = [term for term in in_order([got]) if _multiplies(term)]
        if not products or not mine:
            return
        same = _Same(
            terms, assumed, rows, [*mine, *(each.term for each in products)], Limits(limits.end, SAME, limits.clock)
        )
        for number, product in enumerate(products):
            found = [term for term in mine if term not in self._by and same.factors(term, product)]
            if found:
                self._share(product, found, number)
        self.complete = all(each.term in self._by for each in products)

    def _share(self, product: Product, found: Sequence[Term], number: int) -> None:
        terms, bits = self._terms, width(product.term)
        free = terms.free(f"product {number}", bits)
        for term in (product.term, *found):
            self._by[term] = terms.extended(free, width(term)).term
        holds = facts(terms, product.x, product.y, free)
        known = proved_facts(product.x.width, product.y.width, bits)
        self._facts += [fact for fact, is_proved in zip(holds, known, strict=True) if is_proved]

    def cut(self, formulas: Sequence[Term], assumed: Sequence[Term]) -> list[Term]:
        """Formulas with variables in place of products, and the facts about these: never true together only if the formulas
        and the assumed ones are not.

        Raises:
            ValueError: the factors need not be the same, for other formulas are assumed.
        """
        missing = [formula for formula in self._assumed if formula not in assumed]
        if missing:
            raise ValueError(f"products are shared where {len(self._assumed)} formulas hold, {len(missing)} are not assumed")
        every = [*formulas, *assumed, *self._facts]
        return [self._terms.manager.substitute_term(formula, self._by) for formula in every]


def facts(terms: Terms, x: Bits, y: Bits, product: Bits) -> list[Term]:
    """Formulas that hold of `product` = x·y: `FACTS`."""
    make = terms.manager.mk_term
    bits = product.width
    zero = make(Kind.EQUAL, [product.term, terms.number(0, bits).term])
    empty = make(Kind.OR, [_is_zero(terms, x), _is_zero(terms, y)])
    most = terms.number(((1 << x.width) - 1) * ((1 << y.width) - 1) % (1 << bits), bits)
    found = [make(Kind.EQUAL, [zero, empty]), make(Kind.BV_ULE, [product.term, most.term])]
    for large, other in ((x, y), (y, x)):
        top = terms.is_nonzero(terms.part(large, large.width - 1, large.width - 1))
        placed = terms.part(terms.joined([terms.number(0, 1), other, terms.number(0, large.width - 1)]), bits - 1, 0)
        found.append(make(Kind.IMPLIES, [top, make(Kind.BV_UGE, [product.term, placed.term])]))
    return found


@cache
def proved_facts(x_width: int, y_width: int, bits: int) -> tuple[bool, ...]:
    """For each fact whether it is proved of all factors of these widths, and their product in `bits` bits."""
    terms = Terms(TermManager())
    x, y = terms.free("x", x_width), terms.free("y", y_width)
    product = terms.apply(Kind.BV_MUL, [terms.extended(x, bits), terms.extended(y, bits)], bits)
    limits = Limits(float("inf"), FACT)
    wrong = [terms.manager.mk_term(Kind.NOT, [fact]) for fact in facts(terms, x, y, product)]
    return tuple(ask(terms.manager, [each], limits).verdict == "never" for each in wrong)


class _Same:
    """Tells whether two multiplications have the same factors where some formulas hold."""

    def __init__(
        self, terms: Terms, assumed: Sequence[Term], rows: Mapping[Term, Column], products: Sequence[Term], limits: Limits
    ) -> None:
        self._terms, self._assumed, self._limits = terms, list(assumed), limits
        found = columns([*(factor for each in products for factor in each.children()), *assumed], rows)
        counts = np.ones(len(next(iter(rows.values()))), dtype=bool)
        for formula in assumed:
            counts &= found[formula].astype(bool)
        self._columns = {term: column[counts] for term, column in found.items()}

    def factors(self, term: Term, product: Product) -> bool:
        """Whether the factors of a multiplication are those of a product, in either order."""
        one, other = term.children()
        return any(
            self._equal(one, x) and self._equal(other, y) for x, y in ((product.x, product.y), (product.y, product.x))
        )

    def _equal(self, factor: Term, other: Bits) -> bool:
        """Whether a factor is always another one, modulo a power of two if it has fewer bits."""
        bits = width(factor)
        low = self._columns[other.term] & ((1 << bits) - 1)
        if (self._columns[factor] != low).any():
            return False
        differs = self._terms.manager.mk_term(Kind.DISTINCT, [factor, self._terms.extended(other, bits).term])
        return ask(self._terms.manager, [differs, *self._assumed], self._limits).verdict == "never"


def _multiplies(term: Term) -> bool:
    """Whether a term multiplies two values of which none is constant."""
    return term.kind() == Kind.BV_MUL and len(term.children()) == 2 and not any(each.is_value() for each in term.children())


def _product(term: Term) -> Product:
    x, y = (_without_zeros(factor) for factor in term.children())
    return Product(term, x, y)


def _without_zeros(factor: Term) -> Bits:
    inside = factor.children()[0] if factor.kind() == Kind.BV_ZERO_EXTEND else factor
    return Bits(inside, width(inside))


def _is_zero(terms: Terms, bits: Bits) -> Term:
    return terms.manager.mk_term(Kind.EQUAL, [bits.term, terms.number(0, bits.width).term])
