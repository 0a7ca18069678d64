"""Step normalise: what it relies on where leading zeros are anticipated beside the last adder.

The step itself is proved together with round and encode (stepwise.py, `ProvedSteps.code`)."""

from collections.abc import Sequence
from functools import reduce

from bitwuzla import Kind, Term

from mmau.formal.netlist.terms import Bits, Terms
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR


def close(terms: Terms, total: Bits, zeros: Bits) -> list[Term]:
    """The formulas that a total other than 0 has at least `zeros` leading zeros, and at most `ANTICIPATION_ERROR` more.

    The largest total with n leading zeros is a word of ones shifted right by n; the least one is the top bit shifted right
    by n.
    """
    width = max(total.width, zeros.width + 2)
    held, places = terms.extended(total, width), terms.extended(zeros, width)
    more = terms.apply(Kind.BV_ADD, [places, terms.number(ANTICIPATION_ERROR, width)], width)
    largest = terms.apply(Kind.BV_SHR, [terms.number((1 << total.width) - 1, width), places], width)
    least = terms.apply(Kind.BV_SHR, [terms.number(1 << (total.width - 1), width), more], width)
    at_least = terms.manager.mk_term(Kind.BV_ULE, [held.term, largest.term])
    at_most = terms.manager.mk_term(Kind.BV_ULE, [least.term, held.term])
    return [at_least, terms.manager.mk_term(Kind.IMPLIES, [terms.is_nonzero(total), at_most])]


def parity(terms: Terms, total: Bits, summed: Sequence[Bits]) -> Term:
    """The formula that a total is odd if an odd number of the terms is; terms that end in a constant 0 do not count."""
    lowest = [_lowest(terms, bits) for bits in summed]
    odd = [bit for bit in lowest if bit.value != 0]
    together = reduce(lambda x, y: terms.apply(Kind.BV_XOR, [x, y], 1), odd, terms.number(0, 1))
    return terms.manager.mk_term(Kind.EQUAL, [terms.part(total, 0, 0).term, together.term])


def _lowest(terms: Terms, bits: Bits) -> Bits:
    """The lowest bit; for a concatenation, that of its last part."""
    term = bits.term
    while term.kind() == Kind.BV_CONCAT:
        term = term.children()[-1]
    if term.is_value():
        return terms.number(int(term.value(2), 2) & 1, 1)
    return terms.part(Bits(term, term.sort().bv_size()), 0, 0)
