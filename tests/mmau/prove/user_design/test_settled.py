"""Choices that a case settles are left out of a result, and no others."""

import numpy as np
import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.prove.netlist.terms import Terms
from mmau.prove.user_design.settled import settled

TERMS = Terms(TermManager())

X, YES, NO = (TERMS.free(name, 8).term for name in ("x", "yes", "no"))


def below(limit: int) -> Term:
    return TERMS.manager.mk_term(Kind.BV_ULT, [X, TERMS.number(limit, 8).term])


CHOICE = TERMS.manager.mk_term(Kind.ITE, [below(10), YES, NO])

ALWAYS, NEVER = below(5), TERMS.manager.mk_term(Kind.NOT, [below(10)])


@pytest.mark.parametrize("rows", [range(256), range(0), range(5), range(20, 30)])
@pytest.mark.parametrize(
    ("assumption", "expected"), [(ALWAYS, YES), (NEVER, NO), (below(11), CHOICE), (TERMS.manager.mk_true(), CHOICE)]
)
def test_a_choice_is_left_out_where_a_case_settles_it(assumption: Term, expected: Term, rows: range) -> None:
    """Whatever the rows show: those in which a condition is always the same prove nothing."""
    column = np.array([*rows], dtype=object)
    assert settled(TERMS, CHOICE, [assumption], dict.fromkeys((X, YES, NO), column)) == expected


def test_a_sum_of_choices_keeps_those_that_are_open() -> None:
    make, one = TERMS.manager.mk_term, np.array([3], dtype=object)
    open_choice = make(Kind.ITE, [below(3), YES, NO])
    both = make(Kind.BV_ADD, [CHOICE, open_choice])
    found = settled(TERMS, both, [ALWAYS], dict.fromkeys((X, YES, NO), one))
    assert found == make(Kind.BV_ADD, [YES, open_choice])
