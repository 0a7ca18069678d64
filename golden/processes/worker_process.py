"""The caller's side of a worker process: JSON lines in both directions, and the end of the worker's log."""

import fcntl
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from golden.processes.child import Child

LOG_BYTES = 1 << 16
"""Bytes that are read from the end of a log."""


class Ended(NamedTuple):
    """The end of a worker: its exit status as in `subprocess`, and the end of its log."""

    status: int
    log: str


class Worker:
    """A child that receives messages and sends events, each a line of JSON; its side of both is a `Channel`.

    An event is a table with the key `event`. Other lines on its standard output, such as a library's messages, go to its log
    with its standard error; the log is a file, so a worker never waits for a reader. The worker's input stays open while the
    worker is needed: when this process ends for any reason, the input is closed, and the worker ends with its descendants.

    Args:
        command: program and arguments.
        name: name of its mark; empty for a random one.
        env: variables added to the environment of this process.

    Raises:
        OSError: the program cannot be started.
    """

    def __init__(self, command: Sequence[str], name: str = "", env: Mapping[str, str] | None = None) -> None:
        pipe, self._rest = subprocess.PIPE, b""
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 `end` closes it
        try:
            fcntl.fcntl(self._log, fcntl.F_SETFL, fcntl.fcntl(self._log, fcntl.F_GETFL) | os.O_APPEND)
            self._child = Child(command, name, {**os.environ, **(env or {})}, stdin=pipe, stdout=pipe, stderr=self._log)
        except BaseException:
            self._log.close()
            raise
        self.mark = self._child.mark

    def fileno(self) -> int:
        """The descriptor that is readable when `receive` would not wait."""
        stream = self._child.process.stdout
        assert stream is not None
        return int(stream.fileno())

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message. If the worker has ended this raises nothing; the next `receive` raises EOFError."""
        stream = self._child.process.stdin
        assert stream is not None
        with suppress(BrokenPipeError):
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()

    def receive(self) -> list[dict[str, Any]]:
        """Wait for output, and return the events that are complete by then, possibly none.

        Raises:
            EOFError: the worker has closed its output, usually because it has ended.
        """
        piece = os.read(self.fileno(), 1 << 20)
        *lines, self._rest = (self._rest + (piece or b"\n")).split(b"\n")
        if not piece and lines == [b""]:
            raise EOFError
        events = [(line, _event(line)) for line in lines]
        for line, event in events:
            if event is None:
                with suppress(OSError):  # a full disk
                    os.write(self._log.fileno(), line + b"\n")
        return [event for _, event in events if event is not None]

    def log(self) -> str:
        """The end of the log: the worker's output except its events."""
        descriptor = self._log.fileno()
        return os.pread(descriptor, LOG_BYTES, max(0, os.fstat(descriptor).st_size - LOG_BYTES)).decode(errors="replace")

    def clear_log(self) -> None:
        """Discard the log so far."""
        os.ftruncate(self._log.fileno(), 0)

    def wait(self, seconds: float) -> None:
        """Wait until the worker ends by itself.

        Raises:
            subprocess.TimeoutExpired: it has not ended within that time (seconds).
        """
        self._child.process.wait(timeout=seconds)

    def end(self) -> Ended:
        """Kill the worker and its descendants; return how it ended, even if it had ended by itself."""
        self._child.kill()
        process = self._child.process
        ended = Ended(process.wait(), self.log())
        for stream in (process.stdin, process.stdout, self._log):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
        return ended


def _event(line: bytes) -> dict[str, Any] | None:
    """The event of a line, None if the line is no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "event" in event else None
