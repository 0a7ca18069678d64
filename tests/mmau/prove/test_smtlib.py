"""Scripts: the same text for the same formula, and the same meaning as by evaluation."""

from itertools import product
from random import Random

import pytest
from bitwuzla import Bitwuzla, Kind, Term, TermManager

from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.smtlib import question
from mmau.prove.solvers.installed import PACKAGES, solver

BINARY = [Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL, Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR, Kind.BV_XNOR, Kind.BV_SHL,
          Kind.BV_SHR]  # fmt: skip
UNARY = [Kind.BV_NOT, Kind.BV_NEG]
REDUCED = [Kind.BV_REDOR, Kind.BV_REDAND, Kind.BV_REDXOR]
ORDERED = [Kind.BV_ULT, Kind.BV_ULE, Kind.BV_UGT, Kind.BV_UGE, Kind.BV_SLT, Kind.BV_SLE, Kind.BV_SGT, Kind.BV_SGE,
           Kind.EQUAL, Kind.DISTINCT]  # fmt: skip


def random_word(terms: Terms, random: Random, words: list[Bits], depth: int) -> Bits:
    """A term of 5 bits with every operation that can be in one, now and then."""
    if not depth:
        return random.choice(words)
    x, y = (random_word(terms, random, words, depth - 1) for _ in range(2))
    match random.randrange(6):
        case 0:
            return terms.apply(random.choice(UNARY), [x], 5)
        case 1:
            return terms.extended(terms.apply(random.choice(REDUCED), [x], 1), 5, random.random() < 0.5)
        case 2:
            condition = terms.manager.mk_term(random.choice(ORDERED), [x.term, y.term])
            return Bits(terms.manager.mk_term(Kind.ITE, [condition, x.term, y.term]), 5)
        case 3:
            return terms.joined([terms.part(x, 2, 1), terms.part(y, 4, 2)])
    return terms.apply(random.choice(BINARY), [x, y], 5)


@pytest.mark.parametrize("name", list(PACKAGES))
def test_solvers_and_evaluation_agree(name: str) -> None:
    random = Random(3)
    for _ in range(12):
        terms = Terms(TermManager())
        words = [terms.free(f"x{k}", 5) for k in range(2)] + [terms.number(random.getrandbits(5), 5)]
        word = random_word(terms, random, words, 4)
        given = {bits.term: random.getrandbits(5) for bits in words[:2]}
        value = evaluate([word.term], given)[word.term]
        make = terms.manager.mk_term
        fixed = [make(Kind.EQUAL, [bits.term, terms.number(given[bits.term], 5).term]) for bits in words[:2]]
        for other, verdict in ((value, "sometimes"), (value ^ 1, "never")):
            formula = make(Kind.AND, [*fixed, make(Kind.EQUAL, [word.term, terms.number(other, 5).term])])
            text, variables = question(formula)
            answer = solver(name)(text, 20.0)
            assert answer.verdict == verdict
            if verdict == "sometimes":
                values = {variable: answer.values[f"v{k}"] for k, variable in enumerate(variables)}
                assert evaluate([formula], values)[formula] == 1


@pytest.mark.parametrize("kind", [*BINARY, *ORDERED], ids=str)
def test_every_operation_on_two_bits_is_evaluated_as_the_solver_does(kind: Kind) -> None:
    terms = Terms(TermManager())
    words = [terms.free(name, 2).term for name in "xy"]
    simplify = Bitwuzla(terms.manager).simplify_term
    formula, make = terms.manager.mk_term(kind, words), terms.manager.mk_term
    for codes in product(range(4), repeat=2):
        found = evaluate([formula], dict(zip(words, codes, strict=True)))[formula]
        value = (
            terms.number(found, 2).term if kind in BINARY else (terms.manager.mk_true, terms.manager.mk_false)[not found]()
        )
        known = make(kind, [terms.number(code, 2).term for code in codes])
        assert simplify(make(Kind.EQUAL, [known, value])) == terms.manager.mk_true(), codes


def test_names_do_not_matter() -> None:
    def formula(first: str, second: str) -> Term:
        terms = Terms(TermManager())
        x, y = terms.free(first, 4), terms.free(second, 4)
        return terms.differs(terms.apply(Kind.BV_ADD, [x, y], 4), x)

    text, variables = question(formula("a", "b"))
    assert question(formula("left", "right"))[0] == text
    assert [str(variable.symbol()) for variable in variables] == ["a", "b"]
    assert text.startswith("(set-logic QF_BV)\n(declare-const v0 (_ BitVec 4))\n")


def test_an_operation_that_has_no_name() -> None:
    terms = Terms(TermManager())
    x = terms.free("x", 4)
    divided = terms.apply(Kind.BV_UDIV, [x, x], 4)
    with pytest.raises(ValueError, match=r"has no name in SMT-LIB here$"):
        question(terms.differs(divided, x))
    with pytest.raises(ValueError, match=r"has no value here$"):
        evaluate([divided.term], {x.term: 1})
