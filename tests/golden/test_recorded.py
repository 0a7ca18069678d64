"""The catalogue says `recorded` of exactly the instructions that have a recording."""

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

import golden
from golden import catalogue
from golden.catalogue.recorded import TABLE, disagreeing, table
from golden.recording import FOLDER, Recording, read_index, write
from tests.data.load import x86_recordings
from tests.golden.test_x86 import instruction_of
from tests.hwtests import model_recordings
from tests.hwtests.model_recordings import PLAIN, SCALED


def made_by_the_model(arch: str, name: str, rows: int = 200) -> Recording:
    """As if a device had given what the model gives."""
    made = model_recordings.made_by_the_model(arch, name, rows)
    return dataclasses.replace(made, header=dataclasses.replace(made.header, device="some device"))


def test_table_is_that_of_the_recordings() -> None:
    assert TABLE.read_text(encoding="utf-8") == table(FOLDER), "run: python -m golden.catalogue.recorded"


def test_catalogue_follows_the_index() -> None:
    recorded = {(i.arch, i.name) for i in golden.instructions() if i.evidence == "recorded"}
    left_out = disagreeing(FOLDER)
    indexed = {(entry["arch"], entry["instruction"]) for name, entry in read_index(FOLDER).items() if name not in left_out}
    of_others = {(i.arch, i.name) for i in map(instruction_of, x86_recordings())}  # test_x86.py replays them
    assert recorded == indexed | of_others


def test_table_lists_recordings_by_architecture(tmp_path: Path) -> None:
    for name in (SCALED, PLAIN):
        write(tmp_path, made_by_the_model(*name, rows=1))
    assert tomllib.loads(table(tmp_path)) == {"sm_90": [PLAIN[1]], "sm_120": [SCALED[1]]}


def test_recording_that_disagrees_is_no_evidence(tmp_path: Path) -> None:
    """One changed bit in one row of one of them: the other stays."""
    write(tmp_path, made_by_the_model(*SCALED))
    recording = made_by_the_model(*PLAIN)
    d = recording.d.copy()
    d[7] ^= 1
    path = write(tmp_path, dataclasses.replace(recording, d=d))
    assert disagreeing(tmp_path) == {path.name: 1}
    assert tomllib.loads(table(tmp_path)) == {"sm_120": [SCALED[1]]}


def test_recording_of_a_stand_in_is_refused(tmp_path: Path) -> None:
    write(tmp_path, made_by_the_model(*SCALED, rows=1))
    path = write(tmp_path, model_recordings.made_by_the_model(*PLAIN, rows=1))
    message = f"{path} is no evidence: golden model, not a device made it; remove it and its entry in the index"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        table(tmp_path)


def test_listed_instruction_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_recorded", lambda arch: {PLAIN[1]} if arch == PLAIN[0] else set())
    fresh = catalogue.load.__wrapped__(PLAIN[0])
    assert [name for name, entry in fresh.items() if entry.evidence == "recorded"] == [PLAIN[1]]
