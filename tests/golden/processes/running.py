"""Processes that tests look for: their numbers in a file, and whether they run."""

import time
from collections.abc import Iterable
from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not asked for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def written(pids: Path, number: int = 1) -> list[int]:
    """The numbers in a file, once there are so many."""
    until = time.monotonic() + 300
    while not (pids.exists() and pids.read_text().count("\n") >= number):
        assert time.monotonic() < until, f"{pids} does not come to {number} lines"
        time.sleep(0.01)
    return [int(line) for line in pids.read_text().split()]


def ended_soon(processes: Iterable[int], seconds: float = 60.0) -> bool:
    """Whether all of them end within so many seconds."""
    waiting, until = set(processes), time.monotonic() + seconds
    while waiting and time.monotonic() < until:
        waiting = set(filter(alive, waiting))
        time.sleep(0.01)
    return not waiting
