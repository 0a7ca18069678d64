"""A running program that is asked in bytes and answers in bytes; every wait for it has a time limit."""

import fcntl
import io
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import IO, Any, NamedTuple

from golden.processes.child import Child, Messages, end_with_parent, ending

PIPE_BYTES = 1 << 20
"""Requested size of a pipe (bytes), for fewer switches between the two processes; the system may allow less."""

SETTLED = 0.002
"""Time for which a program must write nothing after a whole answer before the answer counts as complete (seconds)."""

LONGEST = 1 << 24
"""Largest size of an answer (bytes): a program may write without end."""

FAREWELL = 2.0
"""Time that a program has to end after its input has ended (seconds)."""


class Ending(Enum):
    """Why an answer has no more bytes."""

    WHOLE, SILENT, ENDED = range(3)


class Reply(NamedTuple):
    """The bytes of an answer, why no more came, and that in words."""

    data: bytes
    ending: Ending
    why: str


class Conversation:
    """A program's standard input and output. Its standard error is read within bounds, for messages.

    Args:
        command: program and arguments.

    Raises:
        OSError: the program cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        pipe, leave = subprocess.PIPE, partial(end_with_parent, os.getpid())
        self._child = Child(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, preexec_fn=leave)
        process = self._child.process
        process.stderr = io.TextIOWrapper(_stream(process.stderr), errors="replace")
        self._messages = Messages(process)
        self._left = memoryview(b"")
        self._input, self._output = _stream(process.stdin), _stream(process.stdout)
        for stream in (self._input, self._output):
            os.set_blocking(stream.fileno(), False)
            with suppress(OSError):
                fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def unasked(self) -> bytes:
        """Return the output that has come since the last answer."""
        return self._read() or b""

    def ask(self, question: bytes, count: Callable[[bytes], int], wanted: int, patience: float, last: bool = False) -> Reply:
        """Write a question and read the answer until it measures `wanted`, the program ends, or it is silent for `patience`
        seconds.

        Args:
            count: function that measures a piece of the answer; the measures are added up.
            last: whether the program's input ends after the question; what is still unwritten of earlier ones comes first.
        """
        self._left = memoryview(bytes(self._left) + question)
        data, counted, since = bytearray(), 0, time.monotonic()
        while counted < wanted and len(data) < LONGEST:
            if last and not self._left:
                self._input.close()
            remaining = max(0.0, since + patience - time.monotonic())
            readable, writable, _ = select.select([self._output], [self._input] if self._left else [], [], remaining)
            if not readable and not writable:
                return Reply(bytes(data), Ending.SILENT, f"it was silent for {patience:g} s")
            since = time.monotonic()
            if writable:
                self._write()
            if readable:
                piece = self._read()
                if piece is None:
                    return Reply(bytes(data), Ending.ENDED, self._ending())
                data += piece
                counted += count(piece)
        if select.select([self._output], [], [], SETTLED)[0]:
            data += self._read() or b""
        return Reply(bytes(data), Ending.WHOLE, "")

    def end(self) -> str:
        """Kill the program with its descendants; return the last line of its standard error, empty if there is none."""
        self._child.kill()
        self._child.process.wait()
        for stream in (self._input, self._output):
            with suppress(OSError):
                stream.close()
        with suppress(subprocess.TimeoutExpired):  # somebody else holds the stream
            self._messages.wait(FAREWELL)
        lines = [line for line in (self._messages.text() or "").splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    def _ending(self) -> str:
        """How the program ended, once its output has."""
        try:
            status = self._child.process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return ending("it", status)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._input.fileno(), self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it reads no more, and may still answer
            self._left = memoryview(b"")

    def _read(self) -> bytes | None:
        """Read what is available now: empty if nothing is, None at the end of the output."""
        try:
            return os.read(self._output.fileno(), PIPE_BYTES) or None
        except BlockingIOError:
            return b""


def _stream(stream: IO[Any] | None) -> IO[bytes]:
    assert stream is not None
    return stream
