"""The evidence of exactly the instructions with a recording is `recorded`."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import golden
from golden.catalogue import recorded
from golden.catalogue.recorded import TABLE, disagreeing, table
from golden.recordings.recording import OWN, Recording
from golden.recordings.recording_index import FOLDER, read_elsewhere, read_index, write
from tests.hwtests import model_recordings
from tests.hwtests.model_recordings import PLAIN, SCALED


def made_by_the_model(arch: str, name: str, rows: int = 200) -> Recording:
    """As if a device had given what the model gives."""
    made = model_recordings.made_by_the_model(arch, name, rows)
    return dataclasses.replace(made, header=dataclasses.replace(made.header, device="some device"))


@pytest.mark.slow
def test_table_is_that_of_the_recordings_with_which_all_models_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = disagreeing(FOLDER)
    assert left_out == {}
    monkeypatch.setattr(recorded, "disagreeing", lambda folder: left_out)
    assert TABLE.read_text(encoding="utf-8") == table(FOLDER), "run: python -m golden.catalogue.recorded"


def test_catalogue_follows_the_index() -> None:
    """Own rows give `recorded`, those of others and reports elsewhere `third-party`; the index decides."""
    evidence = {(i.arch, i.name): i.evidence for i in golden.instructions()}
    own = {(e["arch"], e["instruction"]) for e in read_index(FOLDER).values() if e["who"] == OWN}
    others = {(e["arch"], e["instruction"]) for e in read_index(FOLDER).values()} - own
    others |= {(report["arch"], name) for report in read_elsewhere(FOLDER) for name in report["instructions"]}
    assert {key for key, found in evidence.items() if found == "recorded"} == own
    assert {key for key, found in evidence.items() if found == "third-party"} == others


def test_table_lists_recordings_by_architecture(tmp_path: Path) -> None:
    for name in (SCALED, PLAIN):
        write(tmp_path, made_by_the_model(*name, rows=1))
    assert tomllib.loads(table(tmp_path)) == {"recorded": {"sm_90": [PLAIN[1]], "sm_120": [SCALED[1]]}}


def test_recording_that_disagrees_is_no_evidence(tmp_path: Path) -> None:
    """One changed bit in one row of one of them: the other stays."""
    write(tmp_path, made_by_the_model(*SCALED))
    recording = made_by_the_model(*PLAIN)
    d = recording.d.copy()
    d[7] ^= 1
    path = write(tmp_path, dataclasses.replace(recording, d=d))
    assert disagreeing(tmp_path) == {path.name: 1}
    assert tomllib.loads(table(tmp_path)) == {"recorded": {"sm_120": [SCALED[1]]}}


def test_rows_of_others_are_third_party_and_computed_ones_no_evidence(tmp_path: Path) -> None:
    others: list[tuple[str, dict[str, Any]]] = [("a", {"who": "somebody"}), ("b", {"kind": "computed"})]
    for place, changes in others:
        made = made_by_the_model(*(PLAIN if place == "a" else SCALED), rows=3)
        write(tmp_path, dataclasses.replace(made, header=dataclasses.replace(made.header, **changes)), place)
    assert tomllib.loads(table(tmp_path)) == {"third-party": {"sm_90": [PLAIN[1]]}}


def test_recording_of_a_stand_in_is_refused(tmp_path: Path) -> None:
    write(tmp_path, made_by_the_model(*SCALED, rows=1))
    path = write(tmp_path, model_recordings.made_by_the_model(*PLAIN, rows=1))
    message = f"{path} is no evidence: golden model, not a device made it; remove it and its entry in the index"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        table(tmp_path)
