"""Boolean terms, built so that alike formulas are one term: constants are folded, and repeated operands dropped."""

from collections.abc import Iterable

from bitwuzla import Kind, Term

from mmau.prove.netlist.terms import Bits, Terms


class Logic:
    """Makes Boolean terms.

    Args:
        terms: makes terms.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms, self._make = terms, terms.manager.mk_term
        self.true, self.false = terms.manager.mk_true(), terms.manager.mk_false()

    def bit(self, bits: Bits) -> Term:
        """The formula that a bit is 1."""
        if bits.value is not None:
            return self.true if bits.value else self.false
        return self._make(Kind.EQUAL, [bits.term, self.terms.number(1, 1).term])

    def equal(self, bits: Bits, other: Bits | int) -> Term:
        """The formula that two bit vectors are equal."""
        wanted = self.terms.number(other, bits.width) if isinstance(other, int) else other
        if bits.value is not None and wanted.value is not None:
            return self.true if bits.value == wanted.value else self.false
        return self.true if bits.term == wanted.term else self._make(Kind.EQUAL, [bits.term, wanted.term])

    def less(self, bits: Bits, other: Bits) -> Term:
        """The formula that one unsigned bit vector is less than another."""
        return self._make(Kind.BV_ULT, [bits.term, other.term])

    def no(self, term: Term) -> Term:
        """The negation of a formula."""
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        return term.children()[0] if term.kind() == Kind.NOT else self._make(Kind.NOT, [term])

    def all(self, parts: Iterable[Term]) -> Term:
        """The conjunction of formulas."""
        left = [part for part in dict.fromkeys(parts) if part != self.true]
        if self.false in left:
            return self.false
        return self._make(Kind.AND, left) if len(left) > 1 else left[0] if left else self.true

    def any(self, parts: Iterable[Term]) -> Term:
        """The disjunction of formulas."""
        return self.no(self.all(self.no(part) for part in parts))

    def implies(self, premise: Term, term: Term) -> Term:
        """The implication of two formulas."""
        return self.any([self.no(premise), term])

    def choice(self, condition: Term, yes: Term, no: Term) -> Term:
        """One of two formulas, selected by a condition."""
        if yes == no or condition == self.true:
            return yes
        if condition == self.false:
            return no
        if no == self.false:
            return self.all([condition, yes])
        if yes == self.false:
            return self.all([self.no(condition), no])
        return self._make(Kind.ITE, [condition, yes, no])

    def chosen(self, condition: Term, yes: Bits, no: Bits) -> Bits:
        """One of two bit vectors, selected by a condition."""
        if yes.term == no.term or condition == self.true:
            return yes
        if condition == self.false:
            return no
        return Bits(self._make(Kind.ITE, [condition, yes.term, no.term]), yes.width)

    def total(self, flags: Iterable[Term], width: int) -> Bits:
        """The number of formulas that hold."""
        found = self.terms.number(0, width)
        for flag in flags:
            one = self.chosen(flag, self.terms.number(1, width), self.terms.number(0, width))
            found = self.plus(found, one)
        return found

    def plus(self, x: Bits, y: Bits) -> Bits:
        """x + y modulo 2**width, where both have the same width."""
        if x.value == 0:
            return y
        return self.terms.apply(Kind.BV_ADD, [x, y], x.width)

    def minus(self, x: Bits, y: Bits) -> Bits:
        """x − y modulo 2**width, where both have the same width."""
        return self.terms.apply(Kind.BV_SUB, [x, y], x.width)
