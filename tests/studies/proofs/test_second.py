"""Second opinions: another solver than the first is asked, who confirmed is kept, and a contradiction is loud."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mmau.jobs import Record, Task
from mmau.jobs.provenance import sealed, unsealed
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.proof_identity import identity
from mmau.prove.solvers.installed import solver_version
from studies.proofs import __main__, second
from studies.proofs.outcome import keep_opinions, table
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


def test_the_page_says_how_many_are_confirmed_and_a_row_that_is_proved_again_keeps_those_of_the_same_questions() -> None:
    outcome = {"date": "2026-01-01", "versions": {"z3": "1"}, "seconds": 60.0, **table([settled("never", "never")])}
    assert "Second opinions" not in document(outcome)
    (row,) = outcome["subjects"]
    said = {"date": "2026-01-02", "seconds": 60.0, "asked": 2, "confirmed": 1, "contradicted": 0, "solvers": ["z3 1"]}
    keep_opinions([row], [row | {"questions": "others", "second": said}])
    assert "second" not in row
    keep_opinions([row], [row | {"second": said}])
    text = document(outcome)
    assert "Of 2 questions 1 are confirmed and 0 contradicted" in text
    assert "| unit | ones-complement | 1 of 2 | 0 | z3 1 | 2026-01-02 |" in text


class Campaign:
    """The command over one small unit, in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proofs, self.page = (folder / name for name in ("proofs.json", "page.md"))
        proved = replace(settled("never"), identity=identity("datapath", TARGET.design))
        outcome = {"date": "2026-01-01", "versions": {}, "seconds": 60.0, **table([proved])}
        self.proofs.write_text(sealed(outcome), encoding="utf-8")
        for name, value in (("STORE", folder / "formal"), ("KEPT", folder / "kept"), ("chosen_targets", lambda _: [TARGET])):
            monkeypatch.setattr(second, name, value)

    def run(self) -> int:
        return main([str(self.proofs), str(self.page), "--seconds", "30", "--jobs", "1"])

    def said(self) -> dict[str, Any]:
        (row,) = unsealed(self.proofs.read_bytes())["subjects"]
        return dict(row.get("second", {}))


@pytest.mark.slow
def test_what_is_confirmed_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    assert campaign.run() == 0
    found = campaign.said()
    assert found["asked"] == found["confirmed"] > 0
    assert capsys.readouterr().out == f"{found['asked']} of {found['asked']} questions confirmed by a second solver\n"
    monkeypatch.setattr(second, "obligations", lambda chosen, *rest: [pytest.fail("asked again") for _ in chosen])
    assert campaign.run() == 0
    assert campaign.said() == found


@pytest.mark.slow
def test_a_contradiction_is_told_and_its_question_kept_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    monkeypatch.setattr(__main__, "ask", dying.contradict)
    assert campaign.run() == 1
    wrong = campaign.said()
    assert wrong["contradicted"] == wrong["asked"] > 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"0 of {wrong['asked']} questions confirmed by a second solver"
    assert all(line.startswith("CONTRADICTION: ") for line in told[1:])
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "kept").iterdir()}
    assert len(kept) == len(told) - 1 == wrong["asked"]
    for key, text in kept.items():
        comment, _, script = text.partition("\n")
        assert comment.endswith(f"{VERSIONS['bitwuzla']} says never, {VERSIONS['z3']} says sometimes")
        assert question_key(Question("", script, ())) == key
    monkeypatch.setattr(__main__, "ask", ask)
    assert campaign.run() == 1  # the store has the answers
    shutil.rmtree(tmp_path / "formal")
    assert campaign.run() == 0
    assert campaign.said()["confirmed"] == wrong["asked"]


@pytest.mark.attack("recorded evidence, edited or of something else")
def test_opinions_on_other_questions_than_the_recorded_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign(tmp_path, monkeypatch)
    other = Record(Task("", {}), "done", {"questions": "others"}, "", 1.0, None, None)
    for records in ([None], [other]):
        monkeypatch.setattr(second, "obligations", lambda chosen, folder, jobs, found=records: found)
        assert campaign.run() == 0
        assert campaign.said() == {}
