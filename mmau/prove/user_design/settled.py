"""Choices in a design's result that a case leaves no more: conditions that always hold in it, or never.

A loop that was unrolled has a condition for each of its cycles, and a range of distances decides most of them; so does the
result of a shift by one of two distances. The result without them is a smaller question.
"""

import time
from collections.abc import Mapping, Sequence

import bitwuzla
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order
from mmau.prove.netlist.terms import Terms
from mmau.prove.user_design.folding import SumFolding
from mmau.prove.user_design.forms import rows_where
from mmau.prove.user_design.row_evaluation import Column, columns

QUESTION = 0.1
"""Seconds for the question whether a condition is the same for all operands of a case."""


def settled(terms: Terms, result: Term, assumptions: Sequence[Term], rows: Mapping[Term, Column]) -> Term:
    """The result, equal wherever the assumptions hold, without the choices whose conditions a solver shows to be constant.

    Args:
        rows: values of the variables; a condition that differs between those in the case is not asked about.
    """
    choices = (term.children()[0] for term in in_order([result]) if term.kind() == Kind.ITE)
    conditions = [each for each in dict.fromkeys(choices) if not each.is_value()]
    inside = rows_where(assumptions, rows)
    found = columns(conditions, inside)
    solver, end = bitwuzla.Bitwuzla(terms.manager), 0.0
    solver.configure_terminator(lambda: time.process_time() > end)
    for assumption in assumptions:
        solver.assert_formula(assumption)
    known = dict[Term, Term]()
    for condition in conditions:
        seen = set(map(bool, found[condition]))
        if len(seen) == 2:
            continue
        for value in seen or (False, True):
            end = time.process_time() + QUESTION
            other = terms.manager.mk_term(Kind.NOT, [condition]) if value else condition
            if solver.check_sat(other) == bitwuzla.Result.UNSAT:
                known[condition] = terms.manager.mk_true() if value else terms.manager.mk_false()
                break
    return SumFolding(terms.manager, known).of(result) if known else result
