"""One design proved in this process: what is undecided, and what is refuted without a counter-example, is not proved."""

import time

import pytest

from mmau.prove import design_proof as prove
from mmau.prove.datapath.unit_questions import NotProvable, Question
from mmau.prove.decision import OPEN, PROVED, REFUTED, DesignDecision
from mmau.prove.design_proof import answered
from mmau.prove.pipeline.pipeline import HANDSHAKE
from mmau.prove.solvers.answer import Answer, Solve
from mmau.prove.solvers.installed import PACKAGES, MissingSolver, solver
from rtl.designs.sample_units import multi_format_designs
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.provable_units import SMALL, unit_of

NEVER = "(set-logic QF_BV)\n(declare-const v0 (_ BitVec 4))\n(assert (distinct v0 v0))\n"
SOMETIMES = NEVER.replace("distinct v0 v0", "= v0 (_ bv3 4)")


def failing(text: str, seconds: float) -> Answer:
    raise MemoryError


def giving_up(text: str, seconds: float) -> Answer:
    return Answer("unknown", reason="tired")


class Clock:
    """Time that passes only while a solver of `Clock.solver` works; one that gives up takes all that it was given."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked: list[tuple[str, str, float]] = []

    def monotonic(self) -> float:
        return self.now

    def solver(self, decides: dict[str, tuple[str, float]], name: str) -> Solve:
        """A solver that decides a question if it is the one named, and has the seconds that it takes."""

        def solve(text: str, seconds: float) -> Answer:
            self.asked.append((name, text, round(seconds, 3)))
            able, takes = decides.get(text, ("", 0.0))
            is_decided = name == able and takes <= seconds
            self.now += takes if is_decided else seconds
            return Answer("never" if is_decided else "unknown")

        return solve


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(prove, "time", found)
    return found


@pytest.mark.parametrize("solve", [failing, giving_up])
def test_a_solver_that_fails_leaves_the_question_to_the_next(solve: Solve, monkeypatch: pytest.MonkeyPatch) -> None:
    real = solver
    monkeypatch.setattr("mmau.prove.design_proof.solver", lambda name: solve if name == "bitwuzla" else real(name))
    questions = [Question("one", NEVER, ("x",)), Question("two", SOMETIMES, ("x",))]
    assert [verdict for _, verdict in answered(questions, time.monotonic() + 20)] == [PROVED, REFUTED]


@pytest.mark.parametrize("error", [MemoryError, MissingSolver, RuntimeError])
def test_where_every_solver_fails_the_question_is_open(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def none(name: str) -> Solve:
        asked.append(name)
        raise error

    monkeypatch.setattr("mmau.prove.design_proof.solver", none)
    assert prove.verdict_of(NEVER, time.monotonic() + 20) == OPEN
    assert asked == list(PACKAGES)


@pytest.mark.slow
def test_without_obligations_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "pipeline_questions", lambda design, verilog: [])
    found = prove.prove(UnitDesign(unit_of(SMALL)), 1.0)
    assert (found.verdict, found.reason) == (OPEN, "there are no obligations")


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("answers", [[OPEN, PROVED], [OPEN, OPEN]])
def test_an_open_obligation_is_no_proof(answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [Question(name, str(k), ("x",)) for k, name in enumerate(("align_0", "d"))]
    monkeypatch.setattr(prove, "pipeline_questions", lambda design, verilog: questions)
    monkeypatch.setattr(prove, "verdict_of", lambda question, end: answers[int(question)])
    count = answers.count(OPEN)
    found = prove.prove(UnitDesign(unit_of(SMALL)), 1.5)
    assert (found.verdict, len(found.not_proved)) == (OPEN, count)
    late = "no counter-example was found in 1.5 s (--seconds)"
    assert found.reason == f"{late}, and {count} of 2 obligations remain undecided"


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_a_refuted_step_is_no_counter_example_of_several_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "pipeline_questions", lambda design, verilog: [Question("d", SOMETIMES, ("x",))])
    found = prove.prove(multi_format_designs()[0], 20.0)
    assert (found.verdict, found.not_proved) == (OPEN, ["d: refuted"])
    assert found.reason.startswith(
        "a step is refuted, but the search for operands that show it covers datapaths of one format"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_a_refuted_handshake_without_a_stimulus_says_which_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "pipeline_questions", lambda design, verilog: [Question(HANDSHAKE, SOMETIMES, ("x",))])
    monkeypatch.setattr(prove, "handshake_trace", lambda *given: None)
    monkeypatch.setattr(prove, "broken", lambda *given: None)
    found = prove.prove(UnitDesign(unit_of(SMALL)), 20.0)
    assert (found.verdict, found.counterexample) == (OPEN, None)
    assert found.reason == "a rule of the registers is refuted, but no stimulus was found that fails in a simulation"

    def refuses(*given: object) -> None:
        raise NotProvable("a register of which nothing is known")

    monkeypatch.setattr(prove, "handshake_trace", refuses)
    assert prove.prove(UnitDesign(unit_of(SMALL)), 20.0).reason == "a register of which nothing is known"


@pytest.mark.parametrize("able", list(PACKAGES))
def test_a_hard_question_leaves_time_for_the_others(able: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever solver can decide them; and what they leave is the hard one's."""
    decides = {"hard": ("bitwuzla", 8.0), **{f"easy {k}": (able, 0.1) for k in range(9)}}
    monkeypatch.setattr(prove, "solver", lambda name: clock.solver(decides, name))
    began = clock.now
    questions = [Question(text, text, ()) for text in decides]
    found = dict(answered(questions, began + 60))
    assert {verdict for name, verdict in found.items() if name != "hard"} == {PROVED}
    assert able != "bitwuzla" or found["hard"] == PROVED
    assert clock.now <= began + 60 + prove.LEAST


def test_after_the_deadline_nothing_is_asked(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "solver", lambda name: clock.solver({}, name))
    questions = [Question(f"hard {k}", f"hard {k}", ()) for k in range(100)]
    began = clock.now
    assert {verdict for _, verdict in answered(questions, began + 3)} == {OPEN}
    assert clock.now < began + 3 + prove.LEAST


def test_half_of_what_is_left_after_a_refutation_is_for_its_counter_example(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = clock.solver({}, "bitwuzla")

    def solve(text: str, seconds: float) -> Answer:
        return Answer("sometimes") if text == "wrong" else real(text, seconds)

    monkeypatch.setattr(prove, "solver", lambda name: solve)
    told: list[object] = []
    began = clock.now
    found = answered([Question("wrong", "wrong", ()), Question("hard", "hard", ())], began + 60, told.append)
    assert found == (("wrong", REFUTED), ("hard", OPEN))
    assert clock.now <= began + 30 + prove.LEAST
    assert told == [{"decided": (0, REFUTED)}]


def test_a_long_list_of_obligations_is_counted() -> None:
    listed = tuple((f"align_{k}", OPEN) for k in range(30))
    lines = DesignDecision(verdict=OPEN, obligations=listed).lines()
    assert lines[1:] == [*(f"align_{k}: open" for k in range(20)), "and 10 more, which --json lists"]
