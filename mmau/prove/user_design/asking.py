"""Questions about terms, put to Bitwuzla within limits of time and memory; answers may be kept in a store."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import bitwuzla
from bitwuzla import Kind, Term, TermManager

from mmau.jobs import DONE, Outcome, Store, Task
from mmau.prove.evaluation import number
from mmau.prove.smtlib import question
from mmau.prove.solvers.answer import Verdict


class NotCompared(Exception):
    """A design that cannot be compared; the message says why.

    Attributes:
        waivable: Verilator's warnings that alone are the reason and may be waived.
        no_circuit: the reason is that GHDL makes no circuit of the design, or one that is not the design.
    """

    def __init__(self, reason: str, waivable: Sequence[str] = (), no_circuit: bool = False) -> None:
        super().__init__(reason)
        self.waivable, self.no_circuit = tuple(waivable), no_circuit


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


Solve = Callable[[TermManager, Sequence[Term], Limits, Sequence[Term]], Found]
"""`ask`, or what answers in its place."""

Ask = Callable[[TermManager, Sequence[Term], Limits, Sequence[Term], Solve], Found]
"""Answers a question by a solver, or without it."""


def directly(
    manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term], solve: Solve
) -> Found:
    """The solver's answer."""
    return solve(manager, formulas, limits, values_of)


KEPT = "answers about cases"
"""What a store of answers is called."""


class Answers:
    """The solver's answers, but for questions that are answered in a store: a proof that was ended goes on where it was.

    A question is its text, which names no variable; so an answer holds for any design of which the same is asked. It is kept
    where formulas are never true together, and where the time of a question has passed without an answer.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(
        self, manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term], solve: Solve
    ) -> Found:
        """As `directly`."""
        text, _ = question(manager.mk_term(Kind.AND, list(formulas)) if len(formulas) > 1 else formulas[0])
        asked = {"question": hashlib.sha256(text.encode()).hexdigest()}
        task = Task("a case", asked, {"bitwuzla": version("bitwuzla")})
        record = self._store.find(task)
        if record is not None and (record.result["verdict"] == "never" or record.seconds >= limits.question):
            return Found(record.result["verdict"])
        started = time.process_time()
        found = solve(manager, formulas, limits, values_of)
        seconds = time.process_time() - started
        if found.verdict == "never" or (found.verdict == "unknown" and seconds >= limits.question):
            self._store.keep(Outcome(task, DONE, seconds, {"verdict": found.verdict}))
        return found
