"""A program that is killed while it writes: `python -m tests.mmau.jobs.killed_writer FOLDER STEP`.

A child opens a store, keeps two outcomes and kills itself, as `kill -9` would, before it executes one of all the lines of
Python in the store and in what writes its files: the first, then every STEP-th after it, until a child comes to its end.
After each, the store must hold every outcome whole or not at all, and what it held before.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from mmau.jobs import Outcome, Store, Task

BEFORE, WITH_FILES, FAILED = (Task(name, {"name": name}) for name in ("before", "with files", "failed"))

TRACED = ("mmau/jobs/store.py", "golden/files.py", "tests/mmau/jobs/killed_writer.py")


def outcomes(folder: Path) -> list[Outcome]:
    """The outcomes that are stored while the program may be killed."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    (files / "wave").write_text("0101")
    return [Outcome(WITH_FILES, "done", 1.0, [1, 2], folder=files), Outcome(FAILED, "failed", 1.0, message="m", log="log")]


def write(store_folder: Path, given: list[Outcome], fatal: int) -> None:
    """Keep them, and die before the line of that number."""
    lines = count(1)

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line" and next(lines) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    with Store(store_folder, "tests") as store:
        for outcome in given:
            store.keep(outcome)
    sys.settrace(None)


def killed(store_folder: Path, given: list[Outcome], fatal: int) -> bool:
    """Whether a child that writes is killed before it has ended."""
    child = os.fork()
    if child == 0:
        try:
            write(store_folder, given, fatal)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"line {fatal}: the child ended with {code}")
    return code != 0


def check(store_folder: Path, given: list[Outcome], fatal: int) -> None:
    """The store is whole, and holds what was kept before."""
    with Store(store_folder, "tests") as store:
        before = store.find(BEFORE)
        if before is None or before.result != "b":
            raise SystemExit(f"line {fatal}: what was kept before is lost")
        for outcome in given:
            record = store.find(outcome.task)
            if record is not None and (record.status, record.result) != (outcome.status, outcome.result):
                raise SystemExit(f"line {fatal}: {outcome.task.name} is {record}")
            if record is not None and record.folder is not None and (record.folder / "wave").read_text() != "0101":
                raise SystemExit(f"line {fatal}: another file")
        if store.damaged:
            raise SystemExit(f"line {fatal}: {store.damaged}")
    left = list(store_folder.rglob(".mmau-*"))
    if left:
        raise SystemExit(f"line {fatal}: left: {left}")


def main(folder: Path, step: int) -> None:
    """Kill at every so many lines."""
    given = outcomes(folder)
    for number, fatal in enumerate(count(1, step)):
        store_folder = folder / str(number)
        with Store(store_folder, "tests") as store:
            store.keep(Outcome(BEFORE, "done", 1.0, "b"))
        was_killed = killed(store_folder, given, fatal)
        check(store_folder, given, fatal)
        if not was_killed:
            print(f"killed {number} times")
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
