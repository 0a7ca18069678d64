"""Worker processes: whatever a task does to its worker is its status, nothing is left of it, and the rest goes on."""

import time
from pathlib import Path

import pytest

from mmau.jobs import CRASHED, DONE, FAILED, TIMED_OUT, Task
from mmau.jobs.processes import WorkerError
from tests.golden.processes.running import alive
from tests.mmau.jobs import works
from tests.mmau.jobs.helpers import run_here, squares

NOT_JSON = "TypeError: the work function must return plain JSON"


@pytest.mark.slow
def test_whatever_a_task_does_is_its_status_and_the_rest_goes_on(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    doing = ["raise", "kill", "abort", "leave", "exit", "hang", "no JSON", "NaN", None]
    tasks = [Task(f"{do}", {"x": 3, "do": do, "pids": str(pids)}) for do in doing]
    began = time.monotonic()
    records = run_here(tasks, tmp_path / "store", seconds=10.0)
    assert time.monotonic() - began < 60
    told = {record.task.name: (record.status, record.message) for record in records}
    assert told == {
        "raise": (FAILED, "RuntimeError: no such thing\non two lines"),
        "kill": (CRASHED, "its process was ended by SIGKILL; is there too little memory?"),
        "abort": (CRASHED, "its process was ended by SIGABRT"),
        "leave": (CRASHED, "its process exited with status 3"),
        "exit": (FAILED, "it asked to end the process with status it is over"),
        "hang": (TIMED_OUT, "did not end within 10 s"),
        "no JSON": (FAILED, f"{NOT_JSON}: Object of type set is not JSON serializable"),
        "NaN": (FAILED, f"{NOT_JSON}: Out of range float values are not JSON compliant"),
        "None": (DONE, ""),
    }
    assert [record.result for record in records] == [None] * 8 + [9]
    logs = {record.task.name: record.log.read_text() for record in records if record.log is not None}
    assert logs["raise"].startswith("before the end\nTraceback")
    assert "Fatal Python error: Aborted" in logs["abort"]
    assert logs["hang"] == "hanging\n"
    assert not alive(int(pids.read_text()))


@pytest.mark.slow
def test_worker_that_cannot_start_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works.square, "__module__", "tests.mmau.jobs.none")
    error = "ModuleNotFoundError: No module named 'tests.mmau.jobs.none'"
    with pytest.raises(WorkerError, match=f"^no worker could be started: its process exited with status 1: {error}$"):
        run_here(squares(1), tmp_path, works.square)
