"""Asks the solver Bitwuzla."""

import time

import bitwuzla

from mmau.prove.solvers.answer import Answer


def solve(question: str, seconds: float) -> Answer:
    """Answer a question within a number of seconds of this process."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(question, True, False)
    found = parser.bitwuzla()
    end = time.process_time() + seconds
    found.configure_terminator(lambda: time.process_time() > end)
    result = found.check_sat()
    if result == bitwuzla.Result.UNSAT:
        return Answer("never")
    if result == bitwuzla.Result.SAT:
        declared = parser.get_declared_funs()
        return Answer("sometimes", {str(each.symbol()): int(found.get_value(each).value(2), 2) for each in declared})
    return Answer("unknown", reason=f"no answer in {seconds:g} s")
