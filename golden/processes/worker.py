"""Worker processes: lines of JSON between a caller and its worker, which ends with the caller, and the end of its log."""

import atexit
import fcntl
import json
import math
import os
import queue
import select
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from golden.processes.child import MARK, Child, kill_marked

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

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message. If the worker has ended this raises nothing; the next `receive` raises EOFError."""
        stream = self._child.process.stdin
        assert stream is not None
        with suppress(BrokenPipeError):
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()

    def receive(self, seconds: float = math.inf) -> list[dict[str, Any]]:
        """Wait for output, and return the events that are complete by then, possibly none.

        Raises:
            TimeoutError: no output came within that time (seconds).
            EOFError: the worker has closed its output, usually because it has ended.
        """
        stream = self._child.process.stdout
        assert stream is not None
        output = select.poll()
        output.register(stream, select.POLLIN)
        if not output.poll(None if seconds == math.inf else math.ceil(1000 * max(0.0, seconds))):
            raise TimeoutError(f"no output came within {seconds:g} s")
        piece = os.read(stream.fileno(), 1 << 20)
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


class Channel:
    """The worker's end of a `Worker`: takes over this process's standard input and output.

    From then on standard input is empty, and all output of the process and its programs goes to standard error, the
    worker's log. When the caller ends, all descendants of this process are killed and it exits at once, even during work.
    """

    def __init__(self) -> None:
        self._messages, self._events = os.dup(0), os.dup(1)  # children do not inherit these
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._killing = threading.Lock()
        atexit.register(self._killing.acquire)  # this process exits only after its descendants are killed
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> dict[str, Any]:
        """Wait for the next message and return it."""
        message: dict[str, Any] = json.loads(self._lines.get())
        return message

    def send(self, event: str, **content: Any) -> None:
        """Send an event to the caller."""
        line = memoryview(json.dumps({"event": event} | content).encode() + b"\n")
        while line:
            line = line[os.write(self._events, line) :]

    def _read(self) -> NoReturn:
        """Queue every line as a message; end the process after the last."""
        rest = b""
        while piece := os.read(self._messages, 1 << 16):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                self._lines.put(line)
        with self._killing:
            if MARK in os.environ:  # not started by hand
                kill_marked(os.environ[MARK])
            os._exit(0)
