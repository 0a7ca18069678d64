"""Terms as gates, beside the evaluation of terms: every operation, for random values."""

from collections.abc import Sequence
from random import Random

import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import evaluate, variables, width
from mmau.prove.netlist.gates import _BITWISE, _ORDERS, _SHAPED, _WORDS, Gates, Literal
from mmau.prove.netlist.terms import Terms

KINDS = [*_BITWISE, *_SHAPED, *_WORDS, *_ORDERS, Kind.ITE]

INDICES = {Kind.BV_EXTRACT: [5, 2], Kind.BV_ZERO_EXTEND: [3], Kind.BV_SIGN_EXTEND: [3]}

ONE_OPERAND = {*_SHAPED, Kind.BV_NEG, Kind.BV_REDAND, Kind.BV_REDOR, Kind.BV_REDXOR} - {Kind.BV_CONCAT}


def value(gates: Gates, literal: Literal, leaves: dict[int, int]) -> int:
    """The value of a literal by the values of the leaves."""
    kind, inputs, _ = gates.all[literal >> 1]
    if literal <= 1:
        return literal
    if kind == "leaf":
        return leaves[literal >> 1] ^ (literal & 1)
    x, y, *z = (value(gates, each, leaves) for each in inputs)
    found = {"and": x & y, "xor": x ^ y}.get(kind)
    if found is None:
        found = (y if x else z[0]) if kind == "choice" else int(x + y + z[0] >= 2)
    return found ^ (literal & 1)


def operands_of(terms: Terms, kind: Kind) -> Sequence[Term]:
    """Variables for an operation, some with constant bits."""
    words = [terms.free(f"w{k}", 7) for k in range(3)]
    wide = [terms.joined([terms.part(words[0], 6, 3), terms.number(5, 3)]).term, words[1].term]
    if kind in (Kind.AND, Kind.OR, Kind.NOT, Kind.IMPLIES):
        wide = [terms.is_nonzero(terms.part(word, 3, 2)) for word in words[:2]]
    if kind == Kind.ITE:
        return [terms.is_nonzero(terms.part(words[2], 1, 0)), *wide]
    return wide[1:] if kind in ONE_OPERAND else wide


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_gates_compute_the_term(kind: Kind) -> None:
    terms, random = Terms(TermManager()), Random(1)
    term = terms.manager.mk_term(kind, list(operands_of(terms, kind)), INDICES.get(kind, []))
    gates = Gates()
    words = {each: gates.word(each) for each in variables([term])}
    word = gates.word(term)
    assert len(word) == max(1, width(term))
    for _ in range(60):
        codes = {each: random.getrandbits(width(each)) for each in words}
        leaves = {literal >> 1: codes[each] >> k & 1 for each, word in words.items() for k, literal in enumerate(word)}
        got = sum(value(gates, literal, leaves) << k for k, literal in enumerate(word))
        assert got == evaluate([term], codes)[term]
