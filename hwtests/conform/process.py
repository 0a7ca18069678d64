"""A worker process under watch: its events as they come, and the reason if it ended badly.

A worker receives its job as one message and sends events (`golden.processes`). An event with the key `allow` says how many
seconds the next event may take; after any other event the next one must come within the watcher's patience.
"""

import os
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from golden.processes import Worker, ending
from golden.text import last_line

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which a worker finds the packages, independent of its working directory."""

COLD_SECONDS = 600.0
"""Time limit of a worker before its first event, and wherever it announces a long operation (s): a driver's first call and
the first compilation on a fresh machine take minutes."""


class WorkerStopped(Exception):
    """A worker hung or crashed.

    Attributes:
        status: `hung` or `crashed`.
        reason: one line.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status, self.reason = status, reason


class DeadlinePassed(Exception):
    """The worker was still working at its deadline and was ended; this is no fault of the instruction that it was
    checking."""


def watched(
    command: Sequence[str],
    job: dict[str, Any],
    patience: float,
    cold: float = COLD_SECONDS,
    deadline: float = float("inf"),
) -> Generator[dict[str, Any], None, None]:
    """Run a worker on a job and yield its events. Closing this generator ends the worker and every process that it started.

    Args:
        patience: time that an event may take after the one before it (seconds).
        cold: time that the first event may take (seconds).
        deadline: time at which the worker is ended, by the clock of `time.monotonic`.

    Raises:
        WorkerStopped: it sent no event for too long, or ended with a status other than 0.
        DeadlinePassed: it was still working at the deadline.
    """
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    worker = Worker(command, env={"PYTHONPATH": python_path})
    try:
        worker.send(job)
        yield from _events(worker, patience, cold, deadline)
        worker.wait(max(0.0, min(patience, deadline - time.monotonic())))
    except subprocess.TimeoutExpired:
        if time.monotonic() >= deadline:
            raise DeadlinePassed from None
        raise WorkerStopped("hung", f"it did not end within {patience:g} s") from None
    finally:
        ended = worker.end()
    if ended.status:
        raise WorkerStopped("crashed", last_line(ended.log, ending("its process", ended.status)))


def _events(worker: Worker, patience: float, cold: float, deadline: float) -> Iterator[dict[str, Any]]:
    """Yield the worker's events until it closes its output.

    Raises:
        WorkerStopped: it sent no event for too long.
        DeadlinePassed: the deadline came first.
    """
    allowed, since = cold, time.monotonic()
    while time.monotonic() < deadline:
        try:
            events = worker.receive(min(since + allowed, deadline) - time.monotonic())
        except TimeoutError:
            if time.monotonic() < deadline:
                raise WorkerStopped("hung", f"no output for {allowed:g} s") from None
            break
        except EOFError:
            return
        for event in events:
            allowed = max(patience, event.pop("allow", patience))
            yield event
            since = time.monotonic()
    raise DeadlinePassed
