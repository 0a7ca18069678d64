"""Runs: every task has one outcome, whatever it does; what is kept is not done again."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from jobs import CRASHED, DONE, FAILED, TIMED_OUT, Record, Store, Task, run
from jobs.engine import ThisProcess
from jobs.processes import Processes, WorkerError
from tests.jobs import works


def squares(*numbers: int) -> list[Task]:
    return [Task(f"x = {x}", {"x": x}) for x in numbers]


def run_here(tasks: list[Task], folder: Path, work: Any = works.misbehave, **options: Any) -> list[Record]:
    with Store(folder, "tests") as store:
        return run(tasks, work, store, **{"workers": 2, **options})


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not asked for is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_results_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    records = run_here(squares(*range(20)), tmp_path, works.noisy_square)
    assert [record.result for record in records] == [x * x for x in range(20)]
    assert {record.status for record in records} == {DONE}
    assert [record.log for record in records] == [None] * 20


def test_what_is_kept_is_not_done_again(tmp_path: Path) -> None:
    run_here(squares(1, 2), tmp_path)
    new: list[Record] = []
    records = run_here(squares(3, 2, 1), tmp_path, on_record=new.append)
    assert [record.result for record in records] == [9, 4, 1]
    assert [record.task.name for record in new] == ["x = 3"]


def test_name_is_no_part_of_the_key_and_what_it_depends_on_is(tmp_path: Path) -> None:
    run_here(squares(2), tmp_path)
    new: list[Record] = []
    tasks = [Task("another name", {"x": 2}), Task("x = 2", {"x": 2}, {"version": "2"})]
    run_here(tasks, tmp_path, on_record=new.append)
    assert [record.task.depends for record in new] == [{"version": "2"}]


def test_whatever_a_task_does_is_its_status_and_the_rest_goes_on(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    doing = ["raise", "kill", "abort", "leave", "exit", "hang", "no JSON", "NaN", None]
    tasks = [Task(f"{do}", {"x": 3, "do": do, "pids": str(pids)}) for do in doing]
    began = time.monotonic()
    records = run_here(tasks, tmp_path / "store", seconds=3.0)
    assert time.monotonic() - began < 60
    told = {record.task.name: (record.status, record.message) for record in records}
    assert told == {
        "raise": (FAILED, "RuntimeError: no such thing\non two lines"),
        "kill": (CRASHED, "its process was ended by SIGKILL (as the system does where memory runs out)"),
        "abort": (CRASHED, "its process was ended by SIGABRT"),
        "leave": (CRASHED, "its process exited with status 3"),
        "exit": (FAILED, "it asked to end the process with status it is over"),
        "hang": (TIMED_OUT, "did not end within 3 s"),
        "no JSON": (
            FAILED,
            "TypeError: the work function must return plain JSON: Object of type set is not JSON serializable",
        ),
        "NaN": (
            FAILED,
            "TypeError: the work function must return plain JSON: Out of range float values are not JSON compliant",
        ),
        "None": (DONE, ""),
    }
    assert [record.result for record in records] == [None] * 8 + [9]
    logs = {record.task.name: record.log.read_text() for record in records if record.log is not None}
    assert logs["raise"].startswith("before the end\nTraceback")
    assert "Fatal Python error: Aborted" in logs["abort"]
    assert logs["hang"] == "hanging\n"
    assert not alive(int(pids.read_text()))


def test_statuses_are_kept_and_run_again_on_request(tmp_path: Path) -> None:
    tasks = [Task("once", {"x": 5, "do": "fail once", "marker": str(tmp_path / "marker")}), *squares(2)]
    store, new = tmp_path / "store", []  # type: Path, list[Record]
    assert [record.status for record in run_here(tasks, store)] == [CRASHED, DONE]
    assert [record.status for record in run_here(tasks, store, on_record=new.append)] == [CRASHED, DONE]
    assert new == []
    records = run_here(tasks, store, retry=True, on_record=new.append)
    assert [record.result for record in records] == [25, 4]
    assert [record.task.name for record in new] == ["once"]
    assert list((store / "logs").iterdir()) == []


def test_files_stay_with_their_result(tmp_path: Path) -> None:
    tasks = [Task(text, {"text": text}) for text in ("a", "b")]
    for _ in range(2):
        for record in run_here(tasks, tmp_path, works.write_files):
            assert record.result == ["inner"]
            assert record.folder is not None
            assert (record.folder / "inner" / "wave.vcd").read_text() == record.task.name


def test_two_tasks_of_one_content_are_refused(tmp_path: Path) -> None:
    tasks = [Task("first", {"x": 1}), Task("second", {"x": 1})]
    text = "tasks first and second have the same content: the result of one would count twice"
    with pytest.raises(ValueError, match=f"^{text}$"):
        run_here(tasks, tmp_path)


def test_work_function_that_nobody_finds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^a work function must be at the top of a module that can be imported, got <function"
    ):
        run_here(squares(1), tmp_path, lambda content, folder: 1)


def test_worker_that_cannot_start_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works.square, "__module__", "tests.jobs.none")
    error = "ModuleNotFoundError: No module named 'tests.jobs.none'"
    with pytest.raises(WorkerError, match=f"^no worker could be started: its process exited with status 1: {error}$"):
        run_here(squares(1), tmp_path, works.square)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "seconds of a task must be above 0 and at most 10000000, got 0"),
        ({"seconds": float("nan")}, "seconds of a task must be above 0 and at most 10000000, got nan"),
        ({"start_within": -1}, "seconds in which tasks start must be from 0 to 10000000, got -1"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
    ],
)
def test_bad_options_are_one_message(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        run_here(squares(1), tmp_path, **options)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {"a": object()}])
def test_task_that_is_no_plain_data_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^content of task t must be plain JSON: "):
        Task("t", {"x": value})


def test_processes_are_one_a_core() -> None:
    assert Processes().workers == len(os.sched_getaffinity(0))


def test_this_process_does_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tasks = [Task(f"{do}", {"x": 3, "do": do}) for do in ("raise", None)]
    records = run_here(tasks, tmp_path, engine=ThisProcess())
    assert [(record.status, record.result, record.message) for record in records] == [
        (FAILED, None, "RuntimeError: no such thing\non two lines"), (DONE, 9, ""),
    ]  # fmt: skip


def test_full_disk_stops_the_run_and_a_rerun_goes_on(tmp_path: Path) -> None:
    full = Task("full", {"x": 7, "do": "full"})
    tasks = [*squares(1), full, *squares(2, 3)]
    text = "task full failed: No space left on device; what is done is kept: make room and run this again to go on"
    with pytest.raises(OSError, match=f"^{text}$"):
        run_here(tasks, tmp_path, workers=1)
    new: list[Record] = []
    records = run_here([*squares(1, 2, 3)], tmp_path, on_record=new.append)
    assert [record.result for record in records] == [1, 4, 9]
    assert [record.task.name for record in new] == ["x = 2", "x = 3"]
    with Store(tmp_path, "tests") as store:
        assert store.find(full) is None


@pytest.mark.parametrize("engine", [None, ThisProcess()])
def test_after_a_time_no_task_starts_and_those_that_run_end(engine: ThisProcess | None, tmp_path: Path) -> None:
    tasks = [Task(f"x = {x}", {"x": x, "seconds": 0.4}) for x in range(9)]
    assert run_here(tasks, tmp_path, works.slow_square, start_within=0.0, engine=engine) == []
    some = run_here(tasks, tmp_path, works.slow_square, workers=1, start_within=1.0, engine=engine)
    assert len(some) < 9
    assert [record.result for record in some] == [x * x for x in range(len(some))]
    assert len(run_here(tasks[: len(some) + 1], tmp_path, works.slow_square, engine=engine)) == len(some) + 1


def test_progress_counts_what_the_caller_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = [Task("raise", {"x": 3, "do": "raise"}), *squares(1)]
    run_here(tasks, tmp_path, unit="rows", amount=lambda task: 1000)
    failed, last = capsys.readouterr().err.splitlines()
    assert failed == "tests: raise failed: RuntimeError: no such thing"
    assert re.fullmatch(r"tests: 2,000 of 2,000 rows, 1 failed, [\d,.e+]+ rows/s", last)
    run_here(tasks, tmp_path)
    assert capsys.readouterr().err == "tests: 2 of 2 tasks, 1 failed\n"
