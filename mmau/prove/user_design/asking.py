"""Questions about terms, put to Bitwuzla within limits of time and memory; answers may be kept in a store."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bitwuzla
from bitwuzla import Kind, Term, TermManager

from mmau.jobs import DONE, Outcome, Record, Store, Task, run
from mmau.prove.evaluation import number
from mmau.prove.smtlib import question
from mmau.prove.solvers.answer import Verdict
from mmau.prove.solvers.installed import limited_memory
from mmau.prove.solvers.with_bitwuzla import solve as answer_of

if TYPE_CHECKING:
    from mmau.jobs import Cluster, Processes


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


class Asking:
    """Puts the questions about cases to the solver, one after the other."""

    def __call__(
        self, manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term], solve: Solve
    ) -> Found:
        """The answer to a question: whether formulas can be true together, and for which values of some variables."""
        return solve(manager, formulas, limits, values_of)

    def ahead(
        self, manager: TermManager, questions: Sequence[Sequence[Term]], limits: Limits, on_never: Callable[[int], None]
    ) -> bool:
        """Ask several questions at once, each in a process of its own, so that their answers are known when they are asked.

        Args:
            on_never: takes the place of each question whose formulas are never true together.

        Returns:
            Whether this was done.
        """
        return False


directly = Asking()

KEPT = "answers about cases"
"""What a store of answers is called."""


class Answers(Asking):
    """The solver's answers, but for questions that are answered in a store: a proof that was ended goes on where it was.

    A question is its text, which names no variable; so an answer holds for any design of which the same is asked. It is kept
    where formulas are never true together, and where the time of a question has passed without an answer.

    Args:
        engine: asks several questions at once; None for none. What it finds true is kept too, with the values.
    """

    def __init__(self, store: Store, engine: "Processes | Cluster | None" = None) -> None:
        self._store, self._engine = store, engine

    def __call__(
        self, manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term], solve: Solve
    ) -> Found:
        task, free = _task(manager, formulas)
        record = self._store.find(task)
        if record is not None and _is_answer(record, limits.question):
            given = record.result["values"] if _verdict(record) == "sometimes" else {}
            values = {term: given[f"v{number}"] for number, term in enumerate(free)} if given else {}
            return Found(_verdict(record), tuple(values.get(term, 0) for term in values_of))
        started = time.process_time()
        found = solve(manager, formulas, limits, values_of)
        seconds = time.process_time() - started
        if found.verdict == "never" or (found.verdict == "unknown" and seconds >= limits.question):
            self._store.keep(Outcome(task, DONE, seconds, {"verdict": found.verdict}))
        return found

    def ahead(
        self, manager: TermManager, questions: Sequence[Sequence[Term]], limits: Limits, on_never: Callable[[int], None]
    ) -> bool:
        if self._engine is None:
            return False
        asked = [_task(manager, formulas)[0] for formulas in questions]
        tasks, places = {task.key: task for task in asked}, {task.key: place for place, task in enumerate(asked)}
        rounds = -(-len(tasks) // max(1, self._engine.workers))
        seconds = limits.remaining / (rounds + 1)
        new = [task for task in tasks.values() if not _is_answer(self._store.find(task), seconds)]
        if new and seconds > 0:

            def on_record(record: Record) -> None:
                if _verdict(record) == "never":
                    on_never(places[record.task.key])

            run(
                new,
                answered,
                self._store,
                engine=self._engine,
                seconds=seconds,
                retry=True,
                on_record=on_record,
                unit="cases",
            )
        return True


def answered(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of a task: the answer to its question, an SMT-LIB script, with the values of its variables."""
    with limited_memory():
        found = answer_of(content["question"], inf)
    return {"verdict": found.verdict, "values": dict(found.values)}


def _task(manager: TermManager, formulas: Sequence[Term]) -> tuple[Task, list[Term]]:
    """The task of a question, and its variables."""
    text, free = question(manager.mk_term(Kind.AND, list(formulas)) if len(formulas) > 1 else formulas[0])
    return Task("a case", {"question": text}, {"bitwuzla": version("bitwuzla")}), free


def _verdict(record: Record) -> Verdict:
    return record.result["verdict"] if record.done else "unknown"


def _is_answer(record: Record | None, seconds: float) -> bool:
    """Whether a question need not be asked again for that time."""
    return record is not None and (_verdict(record) != "unknown" or record.seconds >= seconds)
