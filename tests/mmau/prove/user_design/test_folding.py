"""Folded terms have the values of the terms that they stand for."""

from random import Random

import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import evaluate, width
from mmau.prove.netlist.terms import Terms
from mmau.prove.user_design.folding import Folding, SumFolding

KINDS = (Kind.BV_ADD, Kind.BV_SUB, Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR)


def drawn(random: Random, terms: Terms, leaves: list[Term], depth: int) -> Term:
    """A random term of sums, bits and parts."""
    make = terms.manager.mk_term
    if not depth or random.random() < 0.1:
        constant = terms.number(random.choice((0, 1, 7, 15, random.getrandbits(4))), 4).term
        return random.choice((*leaves, constant))
    one, other = (drawn(random, terms, leaves, depth - 1) for _ in range(2))
    kind = random.randrange(5)
    if kind == 0:
        whole = make(Kind.BV_CONCAT, [one, other])
        low = random.randrange(5)
        return make(Kind.BV_EXTRACT, [whole], [low + 3, low])
    if kind == 1:
        reduced = make(random.choice((Kind.BV_REDOR, Kind.BV_REDAND)), [make(Kind.BV_CONCAT, [one, other, one])])
        return make(Kind.BV_CONCAT, [make(Kind.BV_EXTRACT, [other], [2, 0]), reduced])
    if kind == 2:
        low = make(Kind.BV_EXTRACT, [make(Kind.BV_ADD, [one, other])], [1, 0])
        return make(Kind.BV_CONCAT, [low, low])
    return make(random.choice(KINDS), [one, other])


@pytest.mark.slow
@pytest.mark.parametrize("folding", [Folding, SumFolding])
def test_folded_terms_keep_their_values(folding: type[Folding]) -> None:
    random, terms, changed = Random(3), Terms(TermManager()), 0
    leaves = [terms.free(name, 4).term for name in "xyz"]
    for _ in range(300):
        root = drawn(random, terms, leaves, 5)
        values = {leaf: random.getrandbits(4) for leaf in leaves}
        constant = terms.manager.mk_bv_value(leaves[0].sort(), values[leaves[0]])
        folded = folding(terms.manager, {leaves[0]: constant}).of(root)
        assert width(folded) == width(root)
        assert evaluate([folded], values)[folded] == evaluate([root], values)[root]
        changed += folded != root
    assert changed > 100
