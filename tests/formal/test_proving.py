"""One unit proved in this process: what solvers that fail leave undecided, and no obligations."""

import time

import pytest

from formal import proving
from formal.obligations.units import Question
from formal.outcome import OPEN, PROVED, REFUTED
from formal.proving import answered, decide
from formal.solvers.answer import PACKAGES, Answer, MissingSolver, Solve, solver
from formal.subjects import KINDS, Kind
from rtl.verilog.emit import to_verilog
from tests.formal.units import SMALL, unit_of

NEVER = "(set-logic QF_BV)\n(declare-const v0 (_ BitVec 4))\n(assert (distinct v0 v0))\n"
SOMETIMES = NEVER.replace("distinct v0 v0", "= v0 (_ bv3 4)")


def failing(text: str, seconds: float) -> Answer:
    raise MemoryError


def giving_up(text: str, seconds: float) -> Answer:
    return Answer("unknown", reason="tired")


@pytest.mark.parametrize("solve", [failing, giving_up])
def test_a_solver_that_fails_leaves_the_question_to_the_next(solve: Solve, monkeypatch: pytest.MonkeyPatch) -> None:
    real = solver
    monkeypatch.setattr("formal.proving.solver", lambda name: solve if name == "bitwuzla" else real(name))
    questions = [Question("one", NEVER, ("x",)), Question("two", SOMETIMES, ("x",))]
    assert [verdict for _, verdict in answered(questions, 20.0)] == [PROVED, REFUTED]


@pytest.mark.parametrize("error", [MemoryError, MissingSolver, RuntimeError])
def test_where_every_solver_fails_the_question_is_open(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def none(name: str) -> Solve:
        asked.append(name)
        raise error

    monkeypatch.setattr("formal.proving.solver", none)
    assert proving.verdict_of(NEVER, time.monotonic() + 20) == OPEN
    assert asked == list(PACKAGES)


def test_without_obligations_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_of(SMALL)
    monkeypatch.setitem(KINDS, "datapath", Kind(lambda design, verilog: []))
    found = decide(unit, to_verilog(unit), 1.0)
    assert (found.verdict, found.problem) == (OPEN, "there are no obligations")
