"""The checker of refutations: what it accepts is contradictory, and a lemma that does not follow is refused."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from studies.proofs.refutation.checker import Clause, WrongLemma, check_refutation

SQUARE: list[Clause] = [(1, 2), (1, -2), (-1, 2), (-1, -2)]


def is_contradictory(clauses: Sequence[Clause], variables: int) -> bool:
    return not any(
        all(any((literal > 0) == values[abs(literal) - 1] for literal in clause) for clause in clauses)
        for values in product((False, True), repeat=variables)
    )


def test_lemmas_that_lead_to_a_contradiction_are_counted() -> None:
    assert check_refutation(SQUARE, [(1,), ()]) == 1
    assert check_refutation([*SQUARE, (3,)], [(1, 3), (1,), (7, 8), ()]) == 2
    assert check_refutation([(1,), (-1,)], []) == 0
    assert check_refutation([()], []) == 0


@pytest.mark.parametrize(
    ("clauses", "lemmas", "said"),
    [
        (SQUARE, [], "the lemmas do not end in a contradiction"),
        (SQUARE, [(1, 2)], "the lemmas do not end in a contradiction"),
        (SQUARE, [()], "lemma 1 does not follow from what stands before it: "),
        (SQUARE[:3], [(1,), ()], "lemma 2 does not follow from what stands before it: "),
        (SQUARE[:3], [(1,), (-2,)], "lemma 2 does not follow from what stands before it: -2"),
        ([(1, 2, 3)], [(4,), (-4,), ()], "lemma 1 does not follow from what stands before it: 4"),
    ],
    ids=["nothing", "only known", "too much at once", "satisfiable", "the other way", "a new variable"],
)
def test_what_does_not_follow_is_refused(clauses: list[Clause], lemmas: list[Clause], said: str) -> None:
    with pytest.raises(WrongLemma) as raised:
        check_refutation(clauses, lemmas)
    assert str(raised.value) == said


def resolvents(clauses: Sequence[Clause], random: Random, count: int) -> list[Clause]:
    """Clauses that follow, some of them by a long way, and clauses that do not."""
    found = [frozenset(clause) for clause in clauses]
    for _ in range(count):
        first, second = random.choice(found), random.choice(found)
        literals = [literal for literal in first if -literal in second]
        if literals:
            found.append((first - {literals[0]}) | (second - {-literals[0]}))
    return [tuple(clause) for clause in found[len(clauses) :]]


def test_no_satisfiable_clauses_are_ever_refuted_and_contradictory_ones_are() -> None:
    """Random clauses of few variables, with their resolvents and with random clauses as lemmas."""
    random, verdicts = Random(1), {True: 0, False: 0}
    for _ in range(400):
        variables = random.randint(2, 5)
        literals = [sign * k for k in range(1, variables + 1) for sign in (1, -1)]
        clauses = [tuple(random.choices(literals, k=random.randint(1, 3))) for _ in range(random.randint(2, 14))]
        lemmas = resolvents(clauses, random, 40)
        for _ in range(random.randint(0, 1)):
            lemmas.insert(random.randint(0, len(lemmas)), tuple(random.choices(literals, k=random.randint(0, 2))))
        try:
            check_refutation(clauses, [*lemmas, ()])
        except WrongLemma:
            continue
        verdicts[True] += 1
        assert is_contradictory(clauses, variables), (clauses, lemmas)
    for _ in range(100):
        literals = [1, -1, 2, -2, 3, -3]
        clauses = [tuple(random.choices(literals, k=2)) for _ in range(12)]
        every = [(a, b) for a in literals for b in literals] + [(a,) for a in literals]
        if is_contradictory(clauses, 3):
            verdicts[False] += 1
            known = [lemma for lemma in every if is_contradictory([*clauses, *((-literal,) for literal in lemma)], 3)]
            assert check_refutation(clauses, [*[each for each in known if len(each) == 2], *known, ()]) >= 0
    assert min(verdicts.values()) > 20, verdicts
