"""Asks the solver Z3."""

import z3

from mmau.prove.solvers.answer import Answer


def solve(question: str, seconds: float) -> Answer:
    """Answer a question within a number of seconds."""
    found = z3.SolverFor("QF_BV", ctx=z3.Context())
    found.set("timeout", int(1000 * seconds))
    found.from_string(question)
    result = found.check()
    if result == z3.unsat:
        return Answer("never")
    if result == z3.sat:
        model = found.model()
        return Answer("sometimes", {each.name(): model[each].as_long() for each in model.decls()})
    return Answer("unknown", reason=found.reason_unknown())
