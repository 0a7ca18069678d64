"""Products that a design and the specification share: one variable in place of a multiplication on both sides.

No solver shows that two circuits of multipliers agree, let alone through an addition and a rounding. Where a design
multiplies the factors of the specification, as is asked under the formulas of a case, or holds their product on a wire
whatever circuit computes it (product_wires.py), the product is the same number on both sides: a variable about which a few
facts are known. Each fact is proved of all factors. The variable has every value that the product can have, and more. What
never holds for any of its values never holds, but values for which something holds show nothing by themselves. So are the
significands and exponents of normalised operands (forms.py).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import evaluate, in_order, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.forms import Form, NormalWires, rows_where
from mmau.prove.user_design.product_wires import holding
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
    """A multiplication of the specification: its term, and its factors without the zeros that extend them."""

    term: Term
    x: Bits
    y: Bits


class SharedProducts:
    """The multiplications of a design that are those of the specification wherever some formulas hold, and the wires of
    normalised operands.

    Args:
        assumed: the formulas. rows: values of the variables, one per row of operands: the multiplications that they show to
            differ are not asked about.
        form: the specification's form, if its operands are normalised.

    Attributes:
        complete: whether each multiplication of the specification is one of the design.
    """

    def __init__(
        self,
        terms: Terms,
        got: Term,
        specified: Term,
        assumed: Sequence[Term],
        rows: Mapping[Term, Column],
        limits: Limits,
        form: Form | None = None,
    ) -> None:
        self._terms, self._assumed = terms, tuple(assumed)
        self._free: list[tuple[Product, Bits]] = []
        rows = rows_where(assumed, rows)
        wires = None if form is None else NormalWires(terms, got, form, assumed, rows, limits)
        self._by = dict[Term, Term]() if wires is None else dict(wires.by)
        self._facts = list[Term]() if wires is None else list(wires.facts)
        self._links = list[Term]()
        products = products_of(specified)
        mine = [term for term in in_order([got]) if _multiplies(term)]
        self.complete = not products
        if not products:
            return
        factors = [
            *(factor for each in mine for factor in each.children()),
            *(factor.term for product in products for factor in (product.x, product.y)),
        ]
        same = _Same(terms, assumed, columns(factors, rows), Limits(limits.end, SAME, limits.clock))
        for number, product in enumerate(products):
            found = [term for term in mine if term not in self._by and same.factors(term, product)]
            if not found and wires is None:
                found = list(holding(terms, got, product.x, product.y, assumed, rows, limits))
            if found:
                self._share(product, found, number)
        self.complete = all(each.term in self._by for each in products)

    @property
    def products(self) -> int:
        """How many products are shared."""
        return len(self._free)

    def _share(self, product: Product, found: Sequence[Term], number: int) -> None:
        terms, bits = self._terms, width(product.term)
        free = terms.free(f"product {number}", bits)
        self._free.append((product, free))
        for term in (product.term, *found):
            self._by[term] = terms.extended(free, width(term)).term
        holds = facts(terms, product.x, product.y, free)
        known = proved_facts(product.x.width, product.y.width, bits)
        self._facts += [fact for fact, is_proved in zip(holds, known, strict=True) if is_proved]

    def cut(self, formulas: Sequence[Term], assumed: Sequence[Term]) -> list[Term]:
        """Formulas with variables in place of products and of parts of operands, and the facts about these: never true
        together only if the formulas and the assumed ones are not.

        Raises:
            ValueError: the factors need not be the same, for other formulas are assumed.
        """
        missing = [formula for formula in self._assumed if formula not in assumed]
        if missing:
            raise ValueError(f"products are shared where {len(self._assumed)} formulas hold, {len(missing)} are not assumed")
        every = [*map(self.replaced, formulas), *self._kept(map(self.replaced, assumed)), *map(self.replaced, self._facts)]
        return [*every, *self._links]

    def replaced(self, formula: Term) -> Term:
        """A term with variables in place of products and of parts of operands."""
        return self._terms.manager.substitute_term(formula, self._by)

    def _kept(self, assumed: Iterable[Term]) -> list[Term]:
        """The assumed formulas, but those that multiply, where all products are shared: to assume less proves no less."""
        return [each for each in assumed if not (self.complete and any(map(_multiplies, in_order([each]))))]

    def values(self, rows: Mapping[Term, Column]) -> dict[Term, Column]:
        """The values of all variables, those in place of other terms among them, row by row."""
        replaced = {free: term for term, free in self._by.items() if free.is_const()}
        found = columns(list(replaced.values()), rows) if replaced else {}
        return {**rows, **{free: found[term] for free, term in replaced.items()}}

    def learn(self, values: Mapping[Term, int]) -> None:
        """Add the facts what the products are of the factors that these values of the operands' variables give, and what
        the parts of operands are that variables stand for."""
        terms, make = self._terms, self._terms.manager.mk_term
        products = {product.term for product, _ in self._free}
        self._links = [
            make(Kind.EQUAL, [term, free])
            for term, free in self._by.items()
            if free.is_const() and not _holds(term, products)
        ]
        for product, free in self._free:
            factors = (product.x, product.y)
            found = evaluate([product.term, *(factor.term for factor in factors)], values)
            same = [terms.equal(factor, terms.number(found[factor.term], factor.width)) for factor in factors]
            is_product = terms.equal(free, terms.number(found[product.term], free.width))
            self._facts.append(make(Kind.IMPLIES, [make(Kind.AND, same), is_product]))


def _holds(term: Term, others: Collection[Term]) -> bool:
    """Whether one of several terms is multiplied in a term."""
    return any(each in others or _multiplies(each) for each in in_order([term]))


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
    """Tells whether two multiplications have the same factors where some formulas hold.

    Args:
        found: the values of all factors for the same rows.
    """

    def __init__(self, terms: Terms, assumed: Sequence[Term], found: Mapping[Term, Column], limits: Limits) -> None:
        self._terms, self._assumed, self._columns, self._limits = terms, list(assumed), found, limits

    def factors(self, term: Term, product: Product) -> bool:
        """Whether the factors of a multiplication are those of a product, in either order."""
        one, other = term.children()
        pairs = ((product.x, product.y), (product.y, product.x))
        return any(self._equal(one, p) and self._equal(other, q) for p, q in pairs)

    def _equal(self, factor: Term, other: Bits) -> bool:
        """Whether a factor is always another one, modulo a power of two if it has fewer bits."""
        bits = width(factor)
        low = self._columns[other.term] & ((1 << bits) - 1)
        if (self._columns[factor] != low).any():
            return False
        return self._never(self._terms.manager.mk_term(Kind.DISTINCT, [factor, self._terms.extended(other, bits).term]))

    def _never(self, formula: Term) -> bool:
        return ask(self._terms.manager, [formula, *self._assumed], self._limits).verdict == "never"


def products_of(specified: Term) -> list[Product]:
    """The multiplications of a specification."""
    return [_product(term) for term in in_order([specified]) if _multiplies(term)]


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
