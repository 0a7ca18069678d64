"""Helpers of several test modules: tasks, runs in a separate store, and the running processes."""

import shutil
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from mmau.jobs import Record, Store, Task, run
from mmau.jobs.task import Limits, Outcome, carry_out, work_of
from tests.mmau.jobs import works


def squares(*numbers: int) -> list[Task]:
    return [Task(f"x = {x}", {"x": x}) for x in numbers]


def run_here(tasks: list[Task], folder: Path, work: Any = works.misbehave, **options: Any) -> list[Record]:
    with Store(folder, "tests") as store:
        return run(tasks, work, store, **{"workers": 2, **options})


class ThisProcess:
    """An engine that executes tasks one by one in the process of the test, which can break what they use."""

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """As `Engine`."""
        function, began = work_of(work), time.monotonic()
        for number, task in enumerate(tasks):
            if limits.start is not None and time.monotonic() - began >= limits.start:
                return
            folder = scratch / str(number)
            folder.mkdir()
            yield Outcome(task, **carry_out(function, dict(task.content), folder), folder=folder)
            shutil.rmtree(folder, ignore_errors=True)
