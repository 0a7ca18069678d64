"""Outcomes as messages: all of it comes back, files too; what is no message of ours does not leave its folder."""

import json
from pathlib import Path

import pytest

from mmau.jobs import DONE, FAILED, Outcome, Task
from mmau.jobs.cluster import carry, made_with, packed, unpacked
from mmau.jobs.processes import WorkerError

TASK = Task("one", {"x": 1})


def test_outcome_comes_back_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "there" / "inner").mkdir(parents=True)
    (tmp_path / "there" / "inner" / "log.txt").write_bytes(b"\x00\xff")
    outcome = Outcome(TASK, DONE, 1.5, {"d": [1]}, "", "said\n", tmp_path / "there")
    found = unpacked(packed(outcome), TASK, tmp_path / "here")
    assert found == Outcome(TASK, DONE, 1.5, {"d": [1]}, "", "said\n", tmp_path / "here")
    assert (tmp_path / "here" / "inner" / "log.txt").read_bytes() == b"\x00\xff"
    assert unpacked(packed(Outcome(TASK, FAILED, 0.1, None, "why")), TASK, tmp_path / "none").folder is None


def test_files_that_are_too_large_fail_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wave.vcd").write_bytes(bytes(11))
    monkeypatch.setattr("mmau.jobs.cluster.MOST_BYTES", 10)
    found = unpacked(packed(Outcome(TASK, DONE, 0.1, 5, folder=tmp_path)), TASK, tmp_path / "here")
    assert (found.status, found.result, found.folder) == (FAILED, None, None)
    assert found.message == "the files of a task must have at most 10 bytes to go over the network, got 11"


@pytest.mark.parametrize("name", ["../out", "/out", "inner/../../out"])
def test_file_outside_of_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    told = json.dumps({"status": DONE, "seconds": 0.1, "result": 1, "message": "", "log": ""})
    with pytest.raises(ValueError, match=r"^a file of task one lies outside of its folder: "):
        unpacked((told, {name: b"x"}), TASK, tmp_path / "here")
    assert list(tmp_path.rglob("out")) == []


def test_worker_with_other_sources_is_refused(tmp_path: Path) -> None:
    other = made_with() | {"numpy": "1.0"}
    told = carry(json.dumps({"work": "tests.mmau.jobs.works:square", "seconds": None, "task": {}, "made_with": other}))
    with pytest.raises(WorkerError, match=r"^the worker on \S+ has numpy \d\S*, and numpy 1\.0 here$"):
        unpacked(told, TASK, tmp_path / "here")
