"""Helpers of several test modules: tasks, runs in a separate store, and the running processes."""

from pathlib import Path
from typing import Any

from mmau.jobs import Record, Store, Task, run
from tests.mmau.jobs import works


def squares(*numbers: int) -> list[Task]:
    return [Task(f"x = {x}", {"x": x}) for x in numbers]


def run_here(tasks: list[Task], folder: Path, work: Any = works.misbehave, **options: Any) -> list[Record]:
    with Store(folder, "tests") as store:
        return run(tasks, work, store, **{"workers": 2, **options})
