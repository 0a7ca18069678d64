"""stdout and stderr: a reader that leaves ends nothing, a stream that cannot be written is found before the program ends."""

import io
import os
import sys
from contextlib import suppress
from typing import TextIO


class Pipe(io.FileIO):
    """A descriptor whose reader may leave: `mmau list | head` is no error, and the exit status is that of the whole run.

    Its other errors say what cannot be written. `print` raises them too, when what it is given fills the buffer.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._stream_name = name

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]  # bytes or a buffer, as BufferedWriter hands it over
        except BrokenPipeError:
            return memoryview(data).nbytes  # type: ignore[arg-type]
        except OSError as error:
            raise unwritable(self._stream_name, error) from error


def unwritable(name: str, error: OSError) -> OSError:
    """The error that says so of a stream, unless it is that one already."""
    return OSError(f"{name} cannot be written: {error.strerror}") if error.errno is not None else error


def prepare() -> None:
    """Put stdout and stderr on `Pipe`s. A closed stderr is /dev/null from now on: its messages are not wanted.

    Raises:
        OSError: stdout is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the program ends
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise OSError("stdout is closed; send it to a file, or to /dev/null where it is not wanted")
    # Else the caller has put streams of its own there.
    stdout_is_own, stderr_is_own = sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__
    if stdout_is_own:
        sys.stdout = _over_pipe("stdout", sys.stdout, line_buffering=sys.stdout.isatty())
    if stderr_is_own:
        sys.stderr = _over_pipe("stderr", sys.stderr, line_buffering=True)


def _over_pipe(name: str, stream: TextIO, line_buffering: bool) -> io.TextIOWrapper:
    pipe = io.BufferedWriter(Pipe(name, stream.fileno()))
    return io.TextIOWrapper(pipe, encoding=stream.encoding, errors="backslashreplace", line_buffering=line_buffering)


def say(line: str) -> None:
    """Print to stderr, or nowhere where it cannot be written."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def flush() -> None:
    """Write out what is still in the buffers.

    Raises:
        OSError: stdout or stderr cannot be written; what it holds is dropped, so that it is said once.
    """
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            _drop(stream)
            raise unwritable(name, error) from error


def _drop(stream: TextIO) -> None:
    """Let the buffer of a stream that cannot be written go to /dev/null, for Python flushes it once more as it ends."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
