"""Engines: the one in this process does what workers do, and work functions are found by their names."""

from pathlib import Path

import pytest

from mmau.jobs import DONE, FAILED, Task
from mmau.jobs.task_engines import name_of, work_of
from tests.mmau.jobs import works
from tests.mmau.jobs.helpers import ThisProcess, run_here, squares


def test_this_process_does_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tasks = [Task(f"{do}", {"x": 3, "do": do}) for do in ("raise", None)]
    records = run_here(tasks, tmp_path, engine=ThisProcess())
    assert [(record.status, record.result, record.message) for record in records] == [
        (FAILED, None, "RuntimeError: no such thing\non two lines"), (DONE, 9, ""),
    ]  # fmt: skip


def test_work_function_that_nobody_finds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^a work function must be at the top of a module that can be imported, got <function"
    ):
        run_here(squares(1), tmp_path, lambda content, folder: 1)


def test_name_leads_to_the_function() -> None:
    assert name_of(works.square) == "tests.mmau.jobs.works:square"
    assert work_of("tests.mmau.jobs.works:square") is works.square
