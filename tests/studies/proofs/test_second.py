"""Second opinions: another solver than the first is asked, who confirmed is kept, and a contradiction is loud."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmau.formal.obligations.unit_questions import Question
from mmau.formal.solvers.installed import solver_version
from mmau.jobs.sealed import sealed, unsealed
from studies.proofs import __main__, second
from studies.proofs.opinions import Opinion, decided, row_of
from studies.proofs.outcome import table
from studies.proofs.proofs_page import document
from studies.proofs.second import main, opinions
from studies.proofs.tasks import ask, question_key
from tests.studies.proofs import dying
from tests.studies.proofs.test_campaign import FALSE, TARGET, TRUE, settled

VERSIONS = {name: f"{name} {solver_version(name)}" for name in ("bitwuzla", "z3", "cvc5")}

QUESTIONS = {question_key(each): each for each in (TRUE, FALSE)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "first", "other", "second_one"),
    [pytest.param(ask, "bitwuzla", "z3", "confirmed", marks=pytest.mark.long),
     (dying.only_bitwuzla_and_cvc5, "bitwuzla", "cvc5", "confirmed"),
     (dying.only_z3, "z3", "", "open"), (dying.contradict, "bitwuzla", "z3", "contradicted")],
    ids=["z3", "cvc5", "none", "contradiction"],
)  # fmt: skip
def test_another_solver_than_the_first_is_asked(
    work: Callable[..., Any], first: str, other: str, second_one: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "ask", work)
    found = opinions(QUESTIONS, tmp_path, 20.0, 1)
    assert found.keys() == QUESTIONS.keys()
    for each in found.values():
        assert (each.first, each.second) == (VERSIONS[first], VERSIONS[other] if other else "")
        assert (each.is_confirmed, each.is_contradicted) == (second_one == "confirmed", second_one == "contradicted")


def given(*answers: tuple[str, str]) -> list[dict[str, str]]:
    return [{"solver": name, "verdict": verdict} for name, verdict in answers]


def test_who_decided() -> None:
    assert decided(given(("bitwuzla", "unknown"), ("z3", "never"))) == ("z3", "never")
    assert decided(given(("bitwuzla", "unknown"))) == ("", "unknown")


def test_a_row_counts_each_question_once() -> None:
    known = {
        "1": Opinion("1", "bitwuzla 1", "never", "z3 1", "never"), "2": Opinion("2", "bitwuzla 1", "never", "", "unknown"),
        "3": Opinion("3", "bitwuzla 1", "never", "z3 1", "sometimes"),
    }  # fmt: skip
    assert row_of({"name": "unit"}, ["1", "1", "2", "3", "4"], known) == {
        "name": "unit", "asked": 4, "confirmed": 1, "contradicted": 1,
    }  # fmt: skip


def test_the_page_says_how_many_are_confirmed_of_the_same_questions() -> None:
    outcome = {"date": "2026-01-01", "versions": {"z3": "1"}, "seconds": 60.0, **table([settled("never", "never")])}
    (row,) = outcome["subjects"]
    mine = {
        "name": "unit",
        "kind": "datapath",
        "built": "ones-complement",
        "design": row["design"],
        "questions": "questions",
    }
    stored = {
        "date": "2026-01-02", "seconds": 60.0,
        "subjects": [
            {**mine, "asked": 2, "confirmed": 1, "contradicted": 0},
            {**mine, "design": "of today's other questions", "asked": 9, "confirmed": 9, "contradicted": 0},
        ],
        "opinions": [["1", "bitwuzla 1", "never", "z3 1", "never"], ["2", "bitwuzla 1", "never", "", "unknown"]],
    }  # fmt: skip
    text = document(outcome, stored)
    assert "Of 2 distinct questions 1 are confirmed (1 by z3 1) and 0 contradicted" in text
    assert "All questions of 0 of these 1 designs are confirmed." in text
    assert "| unit | ones-complement | 1 of 2 | 0 |" in text
    assert "9 of 9" not in text
    assert "Second opinions" not in document(outcome)


class Campaign:
    """The command over one small unit, in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proofs, self.second, self.page = (folder / name for name in ("proofs.json", "second.json", "page.md"))
        outcome = {"date": "2026-01-01", "versions": {}, "seconds": 60.0, **table([settled("never")])}
        self.proofs.write_text(sealed(outcome), encoding="utf-8")
        for name, value in (("STORE", folder / "formal"), ("KEPT", folder / "kept"), ("chosen_targets", lambda _: [TARGET])):
            monkeypatch.setattr(second, name, value)

    def run(self) -> int:
        return main([str(self.proofs), str(self.second), str(self.page), "--seconds", "30", "--jobs", "1"])

    def opinions(self) -> list[Opinion]:
        return [Opinion(*row) for row in unsealed(self.second.read_bytes())["opinions"]]


@pytest.mark.slow
def test_what_is_confirmed_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    assert campaign.run() == 0
    found = campaign.opinions()
    assert found
    assert all(each.is_confirmed and each.first == VERSIONS["bitwuzla"] for each in found)
    assert capsys.readouterr().out == f"{len(found)} of {len(found)} questions confirmed by a second solver\n"
    (row,) = unsealed(campaign.second.read_bytes())["subjects"]
    assert (row["asked"], row["confirmed"]) == (len(found), len(found))
    monkeypatch.setattr(second, "ask_all", lambda questions, *rest: {key: pytest.fail("asked again") for key in questions})
    assert campaign.run() == 0
    assert campaign.opinions() == found


@pytest.mark.slow
def test_a_contradiction_is_told_and_its_question_kept_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    monkeypatch.setattr(__main__, "ask", dying.contradict)
    assert campaign.run() == 1
    wrong = campaign.opinions()
    assert all(each.is_contradicted for each in wrong)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"0 of {len(wrong)} questions confirmed by a second solver"
    assert all(line.startswith("CONTRADICTION: ") for line in told[1:])
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "kept").iterdir()}
    assert kept.keys() == {each.question for each in wrong}
    for key, text in kept.items():
        comment, _, script = text.partition("\n")
        assert comment.endswith(f"{VERSIONS['bitwuzla']} says never, {VERSIONS['z3']} says sometimes")
        assert question_key(Question("", script, ())) == key
    monkeypatch.setattr(__main__, "ask", ask)
    assert campaign.run() == 1  # the store has the answers
    shutil.rmtree(tmp_path / "formal")
    assert campaign.run() == 0
    assert all(each.is_confirmed for each in campaign.opinions())


def test_a_target_whose_obligations_cannot_be_made_has_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    monkeypatch.setattr(second, "obligations", lambda chosen, folder, jobs: [None])
    assert campaign.run() == 0
    assert unsealed(campaign.second.read_bytes())["subjects"] == []
