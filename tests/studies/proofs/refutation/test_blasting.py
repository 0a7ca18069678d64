"""Clauses of a question: for every value of its variables they say what the term is, and other texts are refused."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.formal.evaluation import evaluate, variables, width
from mmau.formal.smtlib import question
from studies.proofs.refutation.blasting import Blasted, UnreadableQuestion, blasted
from studies.proofs.refutation.checker import Clause, WrongLemma, check_refutation

ARITHMETIC = (
    Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL, Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR, Kind.BV_XNOR, Kind.BV_SHL, Kind.BV_SHR,
    Kind.BV_ASHR, Kind.BV_CONCAT,
)  # fmt: skip

COMPARED = (
    Kind.BV_ULT, Kind.BV_ULE, Kind.BV_UGT, Kind.BV_UGE, Kind.BV_SLT, Kind.BV_SLE, Kind.BV_SGT, Kind.BV_SGE, Kind.EQUAL,
    Kind.DISTINCT,
)  # fmt: skip

UNARY = (Kind.BV_NOT, Kind.BV_NEG, Kind.BV_REDOR, Kind.BV_REDAND, Kind.BV_REDXOR)

LOGIC = (Kind.AND, Kind.OR, Kind.IMPLIES, Kind.EQUAL, Kind.DISTINCT)


def check_values(formula: Term) -> None:
    """Compare with the evaluation of the term for every value of its variables."""
    text, free = question(formula)
    found = blasted(text)
    for values in product(*(range(1 << width(each)) for each in free)):
        expected = bool(evaluate([formula], dict(zip(free, values, strict=True)))[formula])
        given = {f"v{k}": value for k, value in enumerate(values)}
        assert (can_hold(found, given, True), can_hold(found, given, False)) == (expected, not expected), (text, values)


def can_hold(found: Blasted, given: dict[str, int], is_true: bool) -> bool:
    """Whether the assertion can be true, or false, with these values: unit propagation decides it."""
    fixed: list[Clause] = [
        (literal if given[name] >> place & 1 else -literal,)
        for name, word in found.variables.items()
        for place, literal in enumerate(word)
    ]
    (asserted,) = found.clauses[-1]
    try:
        check_refutation([*found.clauses[:-1], *fixed, (asserted if is_true else -asserted,)], [])
    except WrongLemma:
        return True
    return False


@pytest.mark.parametrize("kind", [*ARITHMETIC, *COMPARED, *UNARY], ids=lambda kind: str(kind).rpartition(".")[2])
@pytest.mark.parametrize("bits", [1, 3])
def test_every_operation_of_variables_and_constants(kind: Kind, bits: int) -> None:
    manager = TermManager()
    sort = manager.mk_bv_sort(bits)
    x, y = manager.mk_const(sort), manager.mk_const(sort)
    constants = [manager.mk_bv_value(sort, value) for value in range(1 << bits)]
    operands: list[list[Term]] = (
        [[x]] if kind in UNARY else [[x, y], [x, x], *([x, c] for c in constants), [constants[1], x]]
    )
    for each in operands:
        term = manager.mk_term(kind, each)
        if width(term):
            for place in range(width(term)):
                bit = manager.mk_term(Kind.BV_EXTRACT, [term], [place, place])
                check_values(manager.mk_term(Kind.EQUAL, [bit, manager.mk_bv_value(manager.mk_bv_sort(1), 1)]))
        else:
            check_values(term)


class Growing:
    """Random terms of a few variables, each of the terms before it."""

    def __init__(self, seed: int) -> None:
        self.random, self.manager = Random(seed), TermManager()
        self.terms = [self.manager.mk_const(self.manager.mk_bv_sort(bits)) for bits in (1, 2, 3)]

    def word(self, bits: int) -> Term:
        """A term of that width."""
        make, old = self.manager.mk_term, self.random.choice(self.terms)
        below = width(old)
        if below > bits:
            low = self.random.randrange(below - bits + 1)
            return make(Kind.BV_EXTRACT, [old], [low + bits - 1, low])
        if below < bits:
            return make(self.random.choice([Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND]), [old], [bits - below])
        return old

    def condition(self) -> Term:
        """A Boolean term."""
        bits, make = self.random.randint(1, 4), self.manager.mk_term
        first, second = (make(self.random.choice(COMPARED), [self.word(bits), self.word(bits)]) for _ in range(2))
        both = make(self.random.choice(LOGIC), [first, second])
        return make(Kind.NOT, [both]) if self.random.randrange(2) else both

    def grow(self) -> None:
        """One more term."""
        bits, make = self.random.randint(1, 5), self.manager.mk_term
        x, y = self.word(bits), self.word(bits)
        kind = self.random.choice([*ARITHMETIC, Kind.ITE])
        self.terms.append(make(kind, [self.condition(), x, y] if kind == Kind.ITE else [x, y]))


@pytest.mark.parametrize("seed", range(20))
def test_terms_of_many_operations(seed: int) -> None:
    growing = Growing(seed)
    for _ in range(8):
        growing.grow()
    check_values(growing.condition())


def script(*lines: str) -> str:
    return "\n".join(["(set-logic QF_BV)", "(declare-const v0 (_ BitVec 4))", *lines])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (script("(assert (bvudiv v0 v0))"), "a question has no term ['bvudiv', 'v0', 'v0']"),
        (script("(assert (= v0 v1))"), "a question has no term v1"),
        (script("(assert (and)"), "a parenthesis is not closed"),
        (script("(assert true))"), "a parenthesis closes that was not opened"),
        (script(), "a question asserts one bit, got 0"),
        (script("(assert v0)"), "a question asserts one bit, got 4"),
        (script("(assert true)", "(assert true)"), "a question asserts one bit, got 2"),
        (script("(declare-const v0 Bool)"), "v0 is defined twice, or has another width than its definition"),
        (script("(define-fun t0 () Bool v0)"), "t0 is defined twice, or has another width than its definition"),
        (script("(check-sat)"), "a question has no command ['check-sat']"),
        (script("(declare-const v1 Int)"), "a question has no sort Int"),
    ],
)
def test_other_texts_are_refused(text: str, said: str) -> None:
    with pytest.raises(UnreadableQuestion) as raised:
        blasted(text)
    assert str(raised.value) == said


@pytest.mark.parametrize("operation", ["(bvadd v0 v1)", "(= v0 v1)", "(ite true v0 v1)", "(bvult v0 v1)"])
def test_operands_of_other_widths_are_refused(operation: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 that it is refused matters, not the words
        blasted(script("(declare-const v1 (_ BitVec 3))", f"(assert {operation})"))


def test_the_assertion_alone_excludes_values() -> None:
    """A gate whose clauses excluded some inputs could refute what is true."""
    growing = Growing(99)
    for _ in range(8):
        growing.grow()
    text, free = question(growing.condition())
    found = blasted(text)
    assert free == variables([*free])
    for values in product(*(range(1 << width(each)) for each in free)):
        given: Sequence[Clause] = [
            (literal if value >> place & 1 else -literal,)
            for value, word in zip(values, found.variables.values(), strict=True)
            for place, literal in enumerate(word)
        ]
        with pytest.raises(WrongLemma, match=r"^the lemmas do not end in a contradiction$"):
            check_refutation([*found.clauses[:-1], *given], [])
