"""Conditions on which a design's next state depends: of what they are made, and what is known where one of them holds."""

from collections.abc import Iterator

from bitwuzla import Kind, Term

from mmau.prove.evaluation import number, width
from mmau.prove.netlist.terms import Bits, Terms


def parts_of(term: Term) -> Iterator[Term]:
    """The terms between which choices in a term select; a bit that tells whether a condition holds is one of them."""
    left, seen = [term], set[Term]()
    while left:
        part = left.pop()
        if part in seen:
            continue
        seen.add(part)
        children = part.children()
        if part.kind() == Kind.ITE and not (width(part) == 1 and all(each.is_value() for each in children[1:])):
            left += children[1:]
        elif part.kind() in (Kind.BV_CONCAT, Kind.BV_EXTRACT):
            left += children
        else:
            yield part


LOGIC = {Kind.NOT, Kind.AND, Kind.OR, Kind.BV_NOT, Kind.BV_REDAND, Kind.BV_REDOR, Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR}
"""Operations whose operands are conditions, where these have one bit."""


def _is_of_one(term: Term) -> bool:
    """Whether a condition is its first operand, a condition too, or the negation of it."""
    children = term.children()
    if term.kind() in (Kind.EQUAL, Kind.DISTINCT):
        return width(children[0]) == 1 and children[1].is_value()
    return term.kind() == Kind.ITE and width(term) == 1


def first_comparison(terms: Terms, condition: Term) -> Term:
    """The first condition in a condition that is none made of others."""
    left = [condition]
    while left:
        term = left.pop()
        children = term.children()
        if term.is_value():
            continue
        if term.kind() == Kind.BV_CONCAT or (term.kind() in LOGIC and width(term) <= 1):
            left += reversed(children)
        elif _is_of_one(term):
            left.append(children[0])
        elif term.sort().is_bool():
            return term
        elif width(term) == 1:
            return terms.equal(Bits(term, 1), terms.number(1, 1))
        else:
            break
    return condition if condition.sort().is_bool() else terms.equal(Bits(condition, 1), terms.number(1, 1))


STRICT = {
    Kind.BV_SGT: Kind.BV_SLT, Kind.BV_SLT: Kind.BV_SGT, Kind.BV_UGT: Kind.BV_ULT, Kind.BV_ULT: Kind.BV_UGT,
}  # fmt: skip
"""Strict orders, each with the one that compares the other way round."""


def known_where(terms: Terms, condition: Term, holds: bool) -> dict[Term, Term]:
    """The terms whose values are known where a condition holds, or where it does not."""
    make, found = terms.manager.mk_term, dict[Term, Term]()

    def put(term: Term, value: bool) -> None:
        found[term] = terms.manager.mk_true() if value else terms.manager.mk_false()

    put(condition, holds)
    if condition.kind() in (Kind.EQUAL, Kind.DISTINCT):
        one, other = condition.children()
        if one.is_value():
            one, other = other, one
        if other.is_value():
            if holds == (condition.kind() == Kind.EQUAL):
                found[one] = other
            elif width(one) == 1:
                found[one] = terms.number(1 - number(other), 1).term
    elif condition.kind() in STRICT:
        one, other = condition.children()
        same, turned = condition.kind(), STRICT[condition.kind()]
        put(make(turned, [other, one]), holds)
        if holds:
            for impossible in (make(same, [other, one]), make(turned, [one, other])):
                put(impossible, False)
            put(make(Kind.EQUAL, [one, other]), False)
            put(make(Kind.EQUAL, [other, one]), False)
    return found
