"""Tasks: what their key is made of, what they may hold, and their work functions, found by name."""

from pathlib import Path
from typing import Any

import pytest

from mmau.jobs import Task
from tests.mmau.jobs.helpers import run_here, squares


def test_key_is_of_content_and_of_what_it_depends_on_in_any_order() -> None:
    task = Task("a name", {"x": 2, "y": [1, None]}, {"version": "1"})
    assert task.key == Task("another", {"y": [1, None], "x": 2}, {"version": "1"}).key
    assert len(task.key) == 64
    others = [
        Task("", {"x": 2, "y": [1]}, {"version": "1"}),
        Task("", task.content, {"version": "2"}),
        Task("", task.content),
    ]
    assert len({task.key, *(other.key for other in others)}) == 4


def test_content_is_as_it_comes_back_from_a_file() -> None:
    assert Task("t", {"pair": (1, 2)}).content == {"pair": [1, 2]}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {"a": object()}])
def test_task_that_is_no_plain_data_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^content of task t must be plain JSON: "):
        Task("t", {"x": value})


def test_work_function_that_nobody_finds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^a work function must be at the top of a module that can be imported, got <function"
    ):
        run_here(squares(1), tmp_path, lambda content, folder: 1)
