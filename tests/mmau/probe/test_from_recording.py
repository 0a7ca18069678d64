"""Recordings: what their rows leave open is named with the rows that settle it, and what no operation gives is said so."""

import json
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.recordings.recording_index import write
from golden.stimulus import CLASSES, GeneratorDraws, generate
from mmau.cli import main
from mmau.probe.device_under_test import dut_of
from mmau.probe.from_recording import read_rows, text_of
from tests.hwtests.model_recordings import PLAIN, made_by_the_model
from tests.mmau.probe.devices import TINY, dut

BOX = dut(TINY.changed(c="bf16"))
SHAPE = BOX.shape


@pytest.mark.long
def test_benign_rows_leave_keys_open_and_name_the_rows_that_settle_them() -> None:
    rows = CLASSES["normal"](SHAPE, GeneratorDraws(np.random.default_rng(0)), 400, ())
    d = BOX.dot(rows)
    reading = read_rows(SHAPE, rows, d)
    found = next(found for found in reading.consistent if found.model.family == "T-FDPA")
    opened = {key for candidate in found.open for key, _ in candidate.keys}
    assert "sticky" in opened
    settling = reading.settling()
    assert settling is not None
    answers = BOX.dot(settling)
    for candidate in found.open:
        told = candidate.model.differs(settling, answers) | found.model.differs(settling, answers)
        assert told.any(), candidate.keys
    both = [np.concatenate(pair) for pair in zip(rows[:3], settling[:3], strict=True)]
    settled = read_rows(SHAPE, rows._replace(a=both[0], b=both[1], c=both[2]), np.concatenate([d, answers]))
    model = next(found.model for found in settled.consistent if found.model.family == "T-FDPA")
    assert model.keys["sticky"] is True


@pytest.mark.long
def test_rows_of_no_operation_are_not_explained() -> None:
    rows = generate(SHAPE, 600, 0).operands
    d = BOX.dot(rows) ^ np.uint16(1)
    told: list[str] = []
    reading = read_rows(SHAPE, rows, d, say=told.append)
    assert told[0].endswith(f": searching, operation 1 of {len(told) // 2}"), "it takes minutes, and must not be silent"
    assert reading.consistent == []
    assert reading.missed > 0
    assert "explained   by no operation" in text_of(reading)


def test_no_rows_are_refused() -> None:
    rows = generate(SHAPE, 1, 0).operands.rows(slice(0))
    with pytest.raises(ValueError, match="a recording must have rows, got none"):
        read_rows(SHAPE, rows, np.empty(0, np.uint16))


@pytest.mark.long
def test_a_recording_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, made_by_the_model(*PLAIN, rows=10))
    unit, rows = tmp_path / "unit.toml", tmp_path / "rows.npz"
    assert main.main(["probe", "--recording", str(path), "-o", str(unit), "--settle", str(rows), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["missed"] == 0
    assert golden.load_unit(unit).operation.name == found["best"]["operation"]
    with np.load(rows) as archive:
        assert len(archive["a"]) == found["settling_rows"]
        assert archive["a"].shape[1] == dut_of(golden.instruction(*PLAIN)).shape.K
