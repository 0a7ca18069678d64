"""Runs: every task has one outcome; what is kept is not done again; what is not done runs again on request."""

from pathlib import Path
from typing import Any

import pytest

from mmau.jobs import CRASHED, DONE, Record, Store, Task
from tests.mmau.jobs import works
from tests.mmau.jobs.helpers import run_here, squares


@pytest.mark.slow
def test_results_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    records = run_here(squares(*range(20)), tmp_path, works.noisy_square)
    assert [record.result for record in records] == [x * x for x in range(20)]
    assert {record.status for record in records} == {DONE}
    assert [record.log for record in records] == [None] * 20


@pytest.mark.slow
def test_recorded_tasks_are_not_run_again(tmp_path: Path) -> None:
    run_here(squares(1, 2), tmp_path)
    new: list[Record] = []
    records = run_here(squares(3, 2, 1), tmp_path, on_record=new.append)
    assert [record.result for record in records] == [9, 4, 1]
    assert [record.task.name for record in new] == ["x = 3"]


@pytest.mark.slow
def test_name_is_no_part_of_the_key_and_what_it_depends_on_is(tmp_path: Path) -> None:
    run_here(squares(2), tmp_path)
    new: list[Record] = []
    tasks = [Task("another name", {"x": 2}), Task("x = 2", {"x": 2}, {"version": "2"})]
    run_here(tasks, tmp_path, on_record=new.append)
    assert [record.task.depends for record in new] == [{"version": "2"}]


@pytest.mark.slow
def test_statuses_are_recorded_and_run_again_on_request(tmp_path: Path) -> None:
    tasks = [Task("once", {"x": 5, "do": "fail once", "marker": str(tmp_path / "marker")}), *squares(2)]
    store, new = tmp_path / "store", []  # type: Path, list[Record]
    assert [record.status for record in run_here(tasks, store)] == [CRASHED, DONE]
    assert [record.status for record in run_here(tasks, store, on_record=new.append)] == [CRASHED, DONE]
    assert new == []
    records = run_here(tasks, store, retry=True, on_record=new.append)
    assert [record.result for record in records] == [25, 4]
    assert [record.task.name for record in new] == ["once"]
    assert list((store / "logs").iterdir()) == []


@pytest.mark.slow
def test_files_stay_with_their_result(tmp_path: Path) -> None:
    tasks = [Task(text, {"text": text}) for text in ("a", "b")]
    for _ in range(2):
        for record in run_here(tasks, tmp_path, works.write_files):
            assert record.result == ["inner"]
            assert record.folder is not None
            assert (record.folder / "inner" / "wave.vcd").read_text() == record.task.name


def test_two_tasks_of_one_content_are_refused(tmp_path: Path) -> None:
    tasks = [Task("first", {"x": 1}), Task("second", {"x": 1})]
    text = "tasks first and second have the same content; give each task once"
    with pytest.raises(ValueError, match=f"^{text}$"):
        run_here(tasks, tmp_path)


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


@pytest.mark.slow
def test_full_disk_stops_the_run_and_a_rerun_goes_on(tmp_path: Path) -> None:
    full = Task("full", {"x": 7, "do": "full"})
    tasks = [*squares(1), full, *squares(2, 3)]
    text = (
        "task full failed: No space left on device; finished tasks are stored: free disk space and run this again to resume"
    )
    with pytest.raises(OSError, match=f"^{text}$"):
        run_here(tasks, tmp_path, workers=1)
    new: list[Record] = []
    records = run_here([*squares(1, 2, 3)], tmp_path, on_record=new.append)
    assert [record.result for record in records] == [1, 4, 9]
    assert [record.task.name for record in new] == ["x = 2", "x = 3"]
    with Store(tmp_path, "tests") as store:
        assert store.find(full) is None


@pytest.mark.slow
def test_after_a_time_no_task_starts_and_those_that_run_end(tmp_path: Path) -> None:
    tasks = [Task(f"x = {x}", {"x": x, "seconds": 0.4}) for x in range(9)]
    assert run_here(tasks, tmp_path, works.slow_square, start_within=0.0) == []
    some = run_here(tasks, tmp_path, works.slow_square, workers=1, start_within=1.0)
    assert len(some) < 9
    assert [record.result for record in some] == [x * x for x in range(len(some))]
    assert len(run_here(tasks[: len(some) + 1], tmp_path, works.slow_square)) == len(some) + 1
