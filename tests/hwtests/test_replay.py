"""Replay: every recording of silicon, all rows on the fastest engine of this machine, a part of them on the reference."""

import dataclasses

import numpy as np
import pytest

from golden.comparison import differing
from golden.recordings.recording import MIN_ROWS, Recording
from golden.recordings.recording_index import FOLDER, read_index, read_listed
from golden.stimulus import CORNERS, OperandShape

LISTED = sorted(read_index(FOLDER))

OF_CAMPAIGNS = [name for name in LISTED if "/" not in name]
"""The recording that `mmau conform --record` wrote."""


def rows_that_differ(recording: Recording, engine: str | None, step: int = 1) -> int:
    chosen = dataclasses.replace(recording, operands=recording.operands.rows(slice(None, None, step)))
    return int(np.count_nonzero(differing(chosen.dot(engine=engine), recording.d[::step], recording.instruction.operation)))


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("rows", [256, pytest.param(1 << 30, marks=pytest.mark.long)])
def test_engines_reproduce_the_recording(name: str, rows: int) -> None:
    """All rows on the fastest engine; on the slow one so many, spread evenly over the recording."""
    recording = read_listed(FOLDER, name)
    assert rows_that_differ(recording, None) == 0
    assert rows_that_differ(recording, "reference", step=max(1, len(recording) // rows)) == 0


@pytest.mark.parametrize("name", OF_CAMPAIGNS)
def test_recording_of_a_campaign_is_complete(name: str) -> None:
    recording = read_listed(FOLDER, name)
    assert len(recording) >= MIN_ROWS
    shape = OperandShape.of(recording.instruction)
    possible = [name for name in recording.header.names if name not in CORNERS or CORNERS[name].cases(shape)]
    assert {recording.header.names[label] for label in recording.label.tolist()} == set(possible)
