"""Recorded proofs compared with the code of today: what differs is named, and a file of which all stands says so."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mmau.jobs import Record, Task
from mmau.jobs.provenance import sealed, unsealed
from mmau.prove.proof_identity import Identity, identity
from mmau.prove.records import TEXTS, asked_by, made_of
from rtl.designs.unit_design import UnitDesign
from studies.proofs import compare, proved_designs
from studies.proofs.outcome import Settled, table
from studies.proofs.proved_designs import Target
from tests.mmau.prove.provable_units import SMALL, unit_of

TARGET = Target("datapath", UnitDesign(unit_of(SMALL)))

OTHER = Target("datapath", UnitDesign(unit_of(SMALL, "sign-magnitude")))

TODAY = Identity("1", "2", "3")


def rows(*targets: Target, problem: str = "", **changed: str) -> list[dict[str, Any]]:
    return [row | changed for row in table([Settled(each, (), {}, TODAY, problem) for each in targets])["subjects"]]


def record(status: str = "done", message: str = "") -> Record:
    return Record(Task("", {}), status, asdict(TODAY) if status == "done" else None, message, 1.0, None, None)


def test_what_is_the_same_has_no_line() -> None:
    assert compare.compared(rows(OTHER, TARGET), [TARGET], [record()]) == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_differs_is_named(text: str) -> None:
    line = f"datapath unit, ones-complement: proved for another text: {text}"
    assert compare.compared(rows(TARGET, **{text: "9"}), [TARGET], [record()]) == [line]


def test_a_row_that_is_missing_and_one_too_many_are_named() -> None:
    begin = "datapath unit"
    assert compare.compared(rows(OTHER), [TARGET], [record()]) == [f"{begin}, ones-complement: nothing is recorded of it"]
    assert compare.unknown(rows(OTHER), [TARGET]) == [f"{begin}: `make formal` no longer lists it"]
    assert compare.unknown(rows(TARGET), [TARGET]) == []


def test_what_cannot_be_put_together_differs_unless_it_could_not_be_then() -> None:
    no_longer = record("failed", "NotProvable: no")
    assert compare.compared(rows(TARGET), [TARGET], [no_longer]) == ["datapath unit, ones-complement: NotProvable: no"]
    assert compare.compared(rows(TARGET), [TARGET], [None]) == ["datapath unit, ones-complement: not begun"]
    assert compare.compared(rows(TARGET, problem="NotProvable: no"), [TARGET], [no_longer]) == []


@pytest.mark.slow
def test_an_outcome_that_is_up_to_date_is_reported_and_another_file_is_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proved_designs, "targets", lambda: [TARGET])
    monkeypatch.setattr(compare, "STORE", tmp_path / "store")
    path = tmp_path / "proofs.json"
    (row,) = rows(TARGET, **asdict(identity("datapath", TARGET.design)))
    path.write_text(sealed({"made_of": {"python": "3.99"}, "asked_by": asked_by(), "subjects": [row]}))
    assert compare.main([str(path)]) == 0
    assert capsys.readouterr().out == f"1 designs compared with {path}; 0 differ\n"
    assert unsealed(path.read_bytes()) == {
        "made_of": dict(made_of()),
        "asked_by": asked_by(),
        "subjects": [json.loads(json.dumps(row))],
    }
    before = sealed({"made_of": {"python": "3.99"}, "asked_by": asked_by(), "subjects": [row | {"questions": "9"}]})
    path.write_text(before)
    assert compare.main([str(path)]) == 1
    assert "proved for another text: questions" in capsys.readouterr().out
    assert path.read_text() == before
