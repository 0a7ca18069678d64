"""Units proved in tasks: what is kept, what a missing or crashing solver leaves open, what the table says."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import Implementation, catalogue_units
from golden.units.unit import ENCODINGS
from mmau.jobs.provenance import sealed
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.proof_identity import Identity, operation_specification_digest, questions_digest
from mmau.prove.records import proof_rows
from mmau.prove.solvers import installed as solvers
from mmau.prove.targets import KINDS
from rtl.designs.identity import verilog_digest
from rtl.designs.unit_design import UnitDesign
from studies.proofs import __main__
from studies.proofs.__main__ import prove
from studies.proofs.outcome import NOT_BEGUN, Settled, exit_status, missing, summary, table, with_added
from studies.proofs.proofs_page import designs_document, document
from studies.proofs.proved_designs import Target, distinct_targets, targets
from studies.proofs.tasks import question_key
from tests.mmau.prove.provable_units import SMALL, unit_of, verilog_of
from tests.studies.proofs import dying

TRUE, FALSE = (Question(f"step {text}", f"(set-logic QF_BV)\n(assert {text})\n", ()) for text in ("true", "false"))


TARGET = Target("datapath", UnitDesign(unit_of(SMALL)))


def settled(*verdicts: str, problem: str = "") -> Settled:
    """A unit whose questions were answered so."""
    questions = tuple(Question(f"decode_x_{k}", f"; {k}", ()) for k in range(len(verdicts)))
    answers = {
        question_key(question): [{"solver": "bitwuzla", "verdict": verdict, "seconds": 0.5}]
        for question, verdict in zip(questions, verdicts, strict=True)
    }
    return Settled(TARGET, questions, answers, Identity("verilog", "specification", "questions"), problem)


@pytest.mark.parametrize(
    ("each", "wanted", "status"),
    [
        (settled("never", "never"), PROVED, 0),
        (settled("never", "unknown"), OPEN, 3),
        (settled("sometimes", "unknown"), REFUTED, 1),
        (settled(), OPEN, 3),
        (settled("never", problem="not begun"), OPEN, 3),
        (Settled(TARGET, (TRUE,), {}), OPEN, 3),
    ],
    ids=["proved", "one unknown", "refuted", "none", "not begun", "not answered"],
)
def test_a_datapath_is_proved_where_every_obligation_is(each: Settled, wanted: str, status: int) -> None:
    assert (each.verdict, exit_status([each])) == (wanted, status)


def test_the_table() -> None:
    outcome = table([settled("never", "unknown")])
    (target,) = outcome["subjects"]
    assert (target["verdict"], target["verilog"], target["questions"]) == (OPEN, "verilog", "questions")
    assert target["solvers"] == ["bitwuzla"]
    assert target["steps"] == {"decode": [1, 2]}
    assert target["not_proved"] == ["decode_x_1: open"]
    (row,) = outcome["questions"]
    assert (row["asked"], row["proved"], row["seconds"]) == (2, 1, 1.0)
    text = document({"date": "2026-01-01", "versions": {"z3": "1"}, "seconds": 60.0, **outcome})
    assert "| unit | T-FDPA | ones-complement | open | 1 of 2 |  | decode_x_1: open |" in designs_document(outcome)
    assert "- unit T-FDPA ones-complement open 1 of 2  decode_x_1: open" in text
    assert "| T-FDPA | datapath | 1 | 0 | 0 | 1 |" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "reason"),
    [
        pytest.param(dying.segfault, r"crashed: .*SIGSEGV", id="segfault", marks=pytest.mark.long),
        pytest.param(dying.leave, r"crashed: ", id="exit"),
        pytest.param(dying.out_of_memory, r"(crashed|failed): ", id="memory", marks=pytest.mark.long),
        pytest.param(dying.never_end, r"timed out: ", id="time", marks=pytest.mark.long),
    ],
)
def test_a_solver_that_dies_leaves_its_question_to_the_next(
    work: Callable[..., Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a question that no solver settles stays open."""
    monkeypatch.setattr(__main__, "ask", work)
    monkeypatch.setattr(__main__, "STUCK", 1.0)
    answers = __main__.ask_all({question_key(FALSE): FALSE}, tmp_path, 20.0, 1)
    (given,) = answers.values()
    assert [(each["solver"], each["verdict"]) for each in given] == [("bitwuzla", "unknown"), ("z3", "never")]
    assert re.match(reason, given[0]["reason"]), given[0]["reason"]
    assert replace(settled(), questions=(FALSE,), answers=answers).verdict == PROVED
    alone = __main__.ask_all({question_key(FALSE): FALSE}, tmp_path, 20.0, 1, ["bitwuzla"])
    assert replace(settled(), questions=(FALSE,), answers=alone).verdict == OPEN


HARD = """(set-logic QF_BV)
(declare-const x (_ BitVec 96))
(declare-const y (_ BitVec 96))
(assert (= (bvmul x y) (_ bv38131109554928794424750527309 96)))
(assert (and (bvult (_ bv1 96) x) (bvult x y) (bvult y (_ bv281474976710656 96))))
"""
"""Two factors of 48 bits, which no solver finds at once."""


@pytest.mark.slow
def test_solvers_that_take_too_long_leave_the_question_open(tmp_path: Path) -> None:
    hard = Question("step", HARD, ())
    answers = __main__.ask_all({question_key(each): each for each in (hard, FALSE)}, tmp_path, 0.5, 1)
    given = answers[question_key(hard)]
    assert [(each["solver"], each["verdict"]) for each in given] == [(name, "unknown") for name in solvers.PACKAGES]
    assert given[0]["reason"] == "no answer in 0.5 s"
    assert all(each["reason"] for each in given)
    both = replace(settled(), questions=(hard, FALSE), answers=answers)
    assert [both.verdict_of(each) for each in (hard, FALSE)] == [OPEN, PROVED]
    assert both.verdict == OPEN


@pytest.mark.slow
def test_units_are_proved_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    staged = UnitDesign(replace(unit_of(SMALL), implementation=Implementation(stages=1)))
    proved, not_provable = prove([TARGET, Target("datapath", staged)], tmp_path, 30.0, 1)
    assert (proved.verdict, not_provable.verdict) == (PROVED, OPEN)
    assert proved.identity == Identity(
        verilog_digest(verilog_of(SMALL)), operation_specification_digest(SMALL), questions_digest(proved.questions)
    )
    assert (not_provable.problem, not_provable.identity) == ("NotProvable: unit has registers", None)
    capsys.readouterr()
    again = prove([TARGET], tmp_path, 30.0, 1)
    assert again[0].verdict == PROVED


OTHER = Target("datapath", UnitDesign(unit_of(SMALL, "sign-magnitude")))

MADE = {"made_with": {"commit": "c"}, "versions": {"mmau": "1"}}


def outcome(date: str, *of: Settled) -> dict[str, Any]:
    return {"date": date, "made_of": {"sources": date}, "asked_by": "a", "seconds": 60.0, **MADE, **table(of)}


def test_designs_of_which_there_is_no_row_are_added_in_the_order_of_the_targets() -> None:
    first, later = settled("never"), replace(settled("never", "never"), target=OTHER)
    before = outcome("2026-01-01", first)
    assert missing([TARGET, OTHER], before["subjects"]) == [OTHER]
    joined = with_added(before, outcome("2026-01-02", later), [OTHER, TARGET])
    assert [row["built"] for row in joined["subjects"]] == ["sign-magnitude", "ones-complement"]
    assert joined["subjects"][1] == before["subjects"][0]
    assert (joined["date"], joined["made_of"]) == ("2026-01-01", {"sources": "2026-01-01"})
    assert [row["date"] for row in proof_rows(joined)] == ["2026-01-02", "2026-01-01"]
    assert [(row["asked"], row["proved"], row["seconds"]) for row in joined["questions"]] == [(3, 3, 1.5)]
    assert "Designs added by `make formal-missing`: 1 on 2026-01-02; " in document(joined)
    assert "formal-missing" not in document(before)
    assert missing([TARGET, OTHER], joined["subjects"]) == []


def test_a_design_for_which_there_was_no_time_is_still_missing() -> None:
    before = outcome("2026-01-01", settled("never"))
    late = replace(settled(problem=NOT_BEGUN), target=OTHER)
    joined = with_added(before, outcome("2026-01-02", late), [TARGET, OTHER])
    assert joined["subjects"] == before["subjects"]
    assert [run["designs"] for run in joined["added"]] == [0]
    assert missing([TARGET, OTHER], joined["subjects"]) == [OTHER]


@pytest.mark.attack("a later run that would replace a proof by a refutation, or hide one")
def test_a_design_that_is_added_keeps_its_verdict_and_replaces_its_own_row_alone() -> None:
    before = outcome("2026-01-01", settled("never"))
    joined = with_added(before, outcome("2026-01-02", replace(settled("sometimes"), target=OTHER)), [TARGET, OTHER])
    assert [row["verdict"] for row in joined["subjects"]] == [PROVED, REFUTED]
    again = with_added(joined, outcome("2026-01-03", settled("sometimes")), [TARGET, OTHER])
    assert [row["verdict"] for row in again["subjects"]] == [REFUTED, REFUTED]
    assert [run["designs"] for run in again["added"]] == [1, 1]


@pytest.mark.slow
def test_missing_designs_are_not_added_to_answers_that_other_code_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(sealed(outcome("2026-01-01", settled("never"))))
    with pytest.raises(ValueError, match=r"p\.json were asked by other code than this; omit --missing$"):
        __main__.main([str(path), str(tmp_path / "p.md"), "--missing"])
    assert not (tmp_path / "p.md").exists()


def test_the_summary_names_what_is_not_proved() -> None:
    assert summary([settled("never"), settled("never", "sometimes"), settled(problem="not begun")]) == [
        "1 of 3 designs proved",
        "unit, ones-complement: refuted: decode_x_1",
        "unit, ones-complement: open: not begun",
    ]


@pytest.mark.slow
def test_every_datapath_of_the_catalogue_is_proved_in_every_encoding_and_none_twice() -> None:
    listed = [each.design for each in targets() if each.kind == "datapath"]
    assert all(isinstance(design, UnitDesign) for design in listed)
    for encoding in ENCODINGS:
        assert {each.operation for each in listed if each.implementation == Implementation(encoding=encoding)} >= {
            unit.operation for unit in catalogue_units()
        }
    assert any(each.implementation.max_exp == "pairwise" for each in listed)
    assert {each.kind for each in targets()} == {*KINDS}
    renamed = Target("datapath", UnitDesign(replace(unit_of(SMALL), name="another")))
    other = Target("datapath", UnitDesign(unit_of(SMALL, "sign-magnitude")))
    assert distinct_targets([TARGET, renamed, other]) == [TARGET, other]
