"""Questions about terms, put to Bitwuzla within limits of time and memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bitwuzla
from bitwuzla import Term, TermManager

from mmau.prove.evaluation import number
from mmau.prove.solvers.answer import Verdict


class NotCompared(Exception):
    """A design that cannot be compared; the message says why.

    Attributes:
        waivable: Verilator's warnings that alone are the reason and may be waived.
    """

    def __init__(self, reason: str, waivable: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.waivable = tuple(waivable)


MEMORY = 6 << 10
"""Memory limit of the solver for one question (MiB)."""


@dataclass(frozen=True)
class Limits:
    """Time limits of a search.

    Attributes:
        end: deadline of the whole search, by the clock. question: seconds of this process for one question.
        clock: monotonic time; with the time of this process, the load of the machine decides no verdict.
    """

    end: float
    question: float
    clock: Callable[[], float] = time.monotonic

    @property
    def remaining(self) -> float:
        """Seconds until the end."""
        return self.end - self.clock()

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return self.remaining <= 0


@dataclass(frozen=True)
class Found:
    """Ask Bitwuzla whether formulas can be true together.

    Attributes:
        values: the values of the requested variables, if the formulas can be true.
    """

    verdict: Verdict
    values: tuple[int, ...] = ()


def ask(manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term] = ()) -> Found:
    """Whether formulas can be true together, and for which values of some variables."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, bool(values_of))
    options.set(bitwuzla.Option.MEMORY_LIMIT, MEMORY)
    solver = bitwuzla.Bitwuzla(manager, options)
    end = time.process_time() + limits.question
    solver.configure_terminator(lambda: time.process_time() > end or limits.over)
    for formula in formulas:
        solver.assert_formula(formula)
    result = solver.check_sat()
    if result == bitwuzla.Result.UNSAT:
        return Found("never")
    if result == bitwuzla.Result.SAT:
        return Found("sometimes", tuple(number(solver.get_value(term)) for term in values_of))
    return Found("unknown")
