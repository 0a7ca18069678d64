"""Repeated evaluation of terms for other values; test_smtlib.py compares their operations with the solver's."""

from bitwuzla import Kind, TermManager

from mmau.prove.evaluation import Evaluation, evaluate
from mmau.prove.netlist.terms import Terms


def test_other_values_of_the_same_terms() -> None:
    terms = Terms(TermManager())
    x, y = terms.free("x", 8), terms.free("y", 8)
    added, five = terms.apply(Kind.BV_ADD, [x, y], 8), terms.number(5, 8)
    evaluation = Evaluation([added.term, five.term, x.term, added.term])
    assert evaluation.of({x.term: 250, y.term: 10}) == [4, 5, 250, 4]
    assert evaluation.of({x.term: 1, y.term: 2}) == [3, 5, 1, 3]
    every = evaluation.every({x.term: 1, y.term: 2})
    assert every == evaluate([added.term, five.term], {x.term: 1, y.term: 2})
    assert every[y.term] == 2
