"""A worker process under watch: its events as they come, and why it ended where it did not end well.

A worker reads one JSON object from standard input and writes events as lines of JSON. An event with the key `allow` says how
many seconds the next one may take; other events are followed by the next within the watcher's patience. What the worker
writes to standard error is read all the time, so that a full pipe never stops it, and its end is kept; so is what others
write to its standard output, which is no event: a library's own words end nothing.
"""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""Where a worker finds the packages, from whatever folder it is run."""

COLD_SECONDS = 600.0
"""What a worker may take before its first event, and wherever it says so: a driver's first call and the first compilation on
a fresh machine take minutes."""

LOG_LINES = 200
"""Lines of a worker's standard error that are kept, the last ones."""


class WorkerStopped(Exception):
    """A worker that did not end well.

    Attributes:
        status: `hung` or `crashed`. reason: one line.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status, self.reason = status, reason


class DeadlinePassed(Exception):
    """The worker was still at work at its deadline and was ended; what it was at is no worse for that."""


def watched(
    command: Sequence[str],
    job: dict[str, Any],
    patience: float,
    cold: float = COLD_SECONDS,
    deadline: float = float("inf"),
) -> Generator[dict[str, Any], None, None]:
    """Run a worker on a job and give its events. The worker, with every process that it started, is ended where this
    generator is closed.

    Args:
        patience: seconds that an event may take after the one before it. cold: seconds that the first may take.
        deadline: by the clock of `time.monotonic`, when the worker is ended whatever it is at.

    Raises:
        WorkerStopped: it said nothing for too long, or ended with a status other than 0.
        DeadlinePassed: it was still at work at the deadline.
    """
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=os.environ | {"PYTHONPATH": python_path},
        process_group=0,
    ) as process:  # fmt: skip
        log: deque[str] = deque(maxlen=LOG_LINES)
        drain = threading.Thread(target=_drain, args=(process, log), daemon=True)
        drain.start()
        try:
            _send(process, job)
            yield from _events(process, log, patience, cold, deadline)
            code = process.wait(timeout=max(0.0, min(patience, deadline - time.monotonic())))
        except TimeoutError as error:
            raise WorkerStopped("hung", f"no sign of life for {error.args[0]:g} s") from None
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                raise DeadlinePassed from None
            raise WorkerStopped("hung", f"it did not end within {patience:g} s") from None
        finally:
            _kill(process)
            drain.join(timeout=5)
        if code:
            last = next((line.strip() for line in reversed(log) if line.strip()), "")
            raise WorkerStopped("crashed", last or f"exit status {code}")


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a worker and what it started: a process of its own that lived on would hold the pipes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _send(process: "subprocess.Popen[str]", job: dict[str, Any]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(job))
        process.stdin.close()
    except BrokenPipeError:  # it ended before it read its job: what it said on standard error tells why
        return


def _drain(process: "subprocess.Popen[str]", log: deque[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line)


def _events(
    process: "subprocess.Popen[str]", log: deque[str], patience: float, cold: float, deadline: float
) -> Iterator[dict[str, Any]]:
    """The worker's events until it closes its output; other lines are put into the log.

    Raises:
        TimeoutError: nothing came for so many seconds. DeadlinePassed: the deadline came first.
    """
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    allowed = cold
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        try:
            line = lines.get(timeout=min(allowed, left))
        except queue.Empty:
            if allowed < left:
                raise TimeoutError(allowed) from None
            raise DeadlinePassed from None
        if line is None:
            return
        event = _event(line)
        if event is None:
            log.append(line)
            continue
        allowed = max(patience, event.pop("allow", patience))
        yield event


def _event(line: str) -> dict[str, Any] | None:
    """The event of a line, None where it is none."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None
