"""What tests of several modules need: tasks, runs in a store of their own, and which processes are there."""

from pathlib import Path
from typing import Any

from jobs import Record, Store, Task, run
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
