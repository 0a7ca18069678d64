"""Errors of compilers and simulators: a full disk is reported in words that campaigns recognise."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from cosim.build.errors import full_disk, simulation_error
from mmau.jobs import Outcome, Store, Task

Usage = namedtuple("Usage", "total used free")


def test_full_disk_stops_a_campaign_and_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space may be free again after the simulation has cleaned up, so the message of the failure must suffice."""
    assert full_disk(tmp_path) is None
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda folder: Usage(1 << 30, 1 << 30, 4096))
        error = simulation_error("verilator cannot build unit", tmp_path / "build.log", stays=False)
    assert str(error) == f"verilator cannot build unit: No space left on device: the disk of {tmp_path}"
    outcome = Outcome(Task("small", {"x": 1}), "failed", 1.0, message=f"SimulationError: {error}")
    with (
        Store(tmp_path / "store", "campaign") as store,
        pytest.raises(OSError, match=r"^task small failed: No space left on device; finished tasks are stored"),
    ):
        store.check_space(outcome)
