"""Units proved in tasks: what is kept, what a missing or crashing solver leaves open, what the table says."""

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from cosim.regressions.main_job import main_units
from formal import campaign
from formal.campaign import answer_of, prove
from formal.obligations.units import Question, unspecified
from formal.outcome import OPEN, PROVED, REFUTED, Settled, document, exit_status, step_of, summary, table
from formal.solvers import answer as solvers
from formal.solvers.answer import MissingSolver, solver, solver_version
from formal.tasks import question_key
from golden import catalogue_units
from golden.operations import EFDPA, FMA, GSTFDPA, STFDPA, TFDPA, FTZAddMul
from jobs import Store, Task, run
from tests.formal.units import SMALL, SMALL_FMA, unit_of

TRUE, FALSE = (Question(f"step {text}", f"(set-logic QF_BV)\n(assert {text})\n", ()) for text in ("true", "false"))


def settled(*verdicts: str, problem: str = "") -> Settled:
    """A unit whose questions were answered so."""
    questions = tuple(Question(f"decode_x_{k}", f"; {k}", ()) for k in range(len(verdicts)))
    answers = {
        question_key(question): [{"solver": "bitwuzla", "verdict": verdict, "seconds": 0.5}]
        for question, verdict in zip(questions, verdicts, strict=True)
    }
    return Settled(unit_of(SMALL), questions, answers, problem)


@pytest.mark.parametrize(
    ("verdicts", "wanted", "status"),
    [
        (["never", "never"], PROVED, 0),
        (["never", "unknown"], OPEN, 3),
        (["sometimes", "unknown"], REFUTED, 1),
        ([], OPEN, 3),
    ],
)
def test_a_datapath_is_proved_where_every_obligation_is(verdicts: list[str], wanted: str, status: int) -> None:
    each = settled(*verdicts)
    assert (each.verdict, exit_status([each])) == (wanted, status)


def test_a_datapath_with_a_problem_is_open() -> None:
    assert settled("never", problem="not begun").verdict == OPEN
    assert exit_status([settled("never"), settled("unknown")]) == 3


def test_a_question_without_an_answer_is_open() -> None:
    each = Settled(unit_of(SMALL), (TRUE,), {})
    assert each.verdict == OPEN


def test_the_table() -> None:
    outcome = table([settled("never", "unknown")])
    (unit,) = outcome["units"]
    assert unit["verdict"] == OPEN
    assert unit["steps"] == {"decode": [1, 2]}
    assert unit["not_proved"] == ["decode_x_1: open"]
    (row,) = outcome["questions"]
    assert (row["asked"], row["proved"], row["seconds"]) == (2, 1, 1.0)
    text = document({"date": "2026-01-01", "versions": {"z3": "1"}, "seconds": 60.0, **outcome})
    assert "| unit | T-FDPA | ones-complement | open | 1 of 2 | decode_x_1: open |" in text
    assert "| T-FDPA | 1 | 0 | 0 | 1 |" in text


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("decode_alpha_3", "decode"),
        ("multiply_0 range", "multiply"),
        ("sum_max_exp", "max_exp"),
        ("sum_align_12", "align"),
        ("group_3_accumulate compressor", "accumulate"),
        ("scale_special_7 special", "scale"),
        ("d", "normalise, round, encode"),
    ],
)
def test_the_step_of_an_obligation(name: str, step: str) -> None:
    assert step_of(name) == step


def crash(content: dict[str, Any], folder: Path) -> Any:
    """Work that ends its process, as a solver does that crashes."""
    os._exit(1)


@pytest.mark.slow
def test_a_solver_that_crashes_leaves_the_question_open(tmp_path: Path) -> None:
    with Store(tmp_path, what="questions") as store:
        (record,) = run([Task("step", {"question": "…"})], crash, store, workers=1)
    answer = answer_of(record)
    assert answer["verdict"] == "unknown"
    assert answer["reason"].startswith("crashed: ")


@pytest.mark.slow
def test_a_missing_solver_leaves_the_rest_going_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version_of(package: str, sound: Any = version) -> str:
        if package == "bitwuzla":
            raise PackageNotFoundError
        return str(sound(package))

    monkeypatch.setattr(solvers, "version", version_of)
    questions = {question_key(each): each for each in (TRUE, FALSE)}
    answers = campaign.ask_all(questions, tmp_path, 20.0, 1)
    for question, verdict in ((TRUE, "sometimes"), (FALSE, "never")):
        given = answers[question_key(question)]
        assert [(each["solver"], each["verdict"]) for each in given] == [("bitwuzla", "unknown"), ("z3", verdict)]
        assert given[0]["reason"] == "the solver bitwuzla is missing; `pip install bitwuzla` brings it"


def test_messages_about_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"^a solver must be one of bitwuzla, z3, cvc5, got 'yices'$"):
        solver("yices")
    monkeypatch.setitem(solvers.PACKAGES, "z3", "no-such-package-here")
    with pytest.raises(MissingSolver, match=r"^the solver z3 is missing; `pip install no-such-package-here` brings it$"):
        solver_version("z3")


@pytest.mark.slow
def test_units_are_proved_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = [unit_of(SMALL), unit_of(SMALL_FMA)]
    assert [each.verdict for each in prove(units, tmp_path, 30.0, 1)] == [PROVED, PROVED]
    (left,) = prove(units[:1], tmp_path / "other", 30.0, 1, within=0.0)
    assert (left.verdict, left.problem) == (OPEN, "not begun")
    capsys.readouterr()
    again = prove(units[:1], tmp_path, 30.0, 1)
    assert again[0].verdict == PROVED


def test_a_unit_that_is_not_there() -> None:
    with pytest.raises(
        ValueError, match=r"^--unit must be part of a unit's name, as `mmau list` has them, got 'sm_1 mma-no'$"
    ):
        campaign.main(["docs", "--unit", "sm_1 mma-no"])


def test_the_main_jobs_units_that_have_a_specification() -> None:
    units = campaign.main_job_units()
    assert {type(unit.operation) for unit in units} >= {TFDPA, STFDPA, GSTFDPA, EFDPA, FMA, FTZAddMul}
    assert {unit.implementation.stages for unit in units} == {0}
    assert [unit.name for unit in units] == [unit.name for unit in main_units()]
    assert all(unspecified(unit.operation) is None for unit in catalogue_units())


def test_the_summary_names_what_is_not_proved() -> None:
    assert summary([settled("never"), settled("never", "sometimes"), settled(problem="not begun")]) == [
        "1 of 3 datapaths proved",
        "unit, ones-complement: refuted: decode_x_1",
        "unit, ones-complement: open: not begun",
    ]
