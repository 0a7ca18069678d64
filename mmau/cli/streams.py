"""stdout and stderr: a reader that closes its pipe ends nothing; other write errors are reported before the program ends."""

import io
import os
import sys
from contextlib import suppress
from typing import TextIO

LONGEST_LINE, ENDS = 2000, 900
"""Characters of a line that `say` prints whole, and of each end of a longer one: a user's file has values of any length."""

CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
"""Escape sequences for control characters other than line feed and tab. `golden.text` has the same table, but importing it
would delay the start of the program."""


class Pipe(io.FileIO):
    """A descriptor whose reader may go away: `mmau list | head` is no error, and the exit status is that of the whole run.

    Other errors name the stream. `print` raises them too, when it fills the buffer.
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
    """An error that names the stream; the given one if it already does."""
    return OSError(f"{name} cannot be written: {error.strerror}") if error.errno is not None else error


def prepare() -> None:
    """Put stdout and stderr on `Pipe`s. A closed stderr becomes /dev/null.

    Raises:
        OSError: stdout is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the program ends
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise OSError("stdout is closed; redirect it to a file, or to /dev/null")
    # Streams that the caller has replaced stay as they are.
    stdout_is_original, stderr_is_original = sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__
    if stdout_is_original:
        sys.stdout = _over_pipe("stdout", sys.stdout, line_buffering=sys.stdout.isatty())
    if stderr_is_original:
        sys.stderr = _over_pipe("stderr", sys.stderr, line_buffering=True)


class Printable(io.TextIOWrapper):
    """A text stream on which control characters take no effect: messages of a user's design are printed too."""

    def write(self, text: str) -> int:
        super().write(text.translate(CONTROLS))
        return len(text)


def _over_pipe(name: str, stream: TextIO, line_buffering: bool) -> io.TextIOWrapper:
    pipe = io.BufferedWriter(Pipe(name, stream.fileno()))
    kind = Printable if name == "stdout" else io.TextIOWrapper  # a line of progress on stderr is written over itself
    return kind(pipe, encoding=stream.encoding, errors="backslashreplace", line_buffering=line_buffering)


def say(line: str) -> None:
    """Print to stderr, of long lines the beginning and the end; drop the line where stderr cannot be written."""
    try:
        print("\n".join(map(_shown, line.translate(CONTROLS).split("\n"))), file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def progress(line: str) -> None:
    """Print a line of progress on stderr.

    Raises:
        OSError: stderr cannot be written.
    """
    print(line, file=sys.stderr, flush=True)


def _shown(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:ENDS]} … ({len(line) - 2 * ENDS:,} more characters) … {line[-ENDS:]}"


def flush() -> None:
    """Write out the buffers.

    Raises:
        OSError: stdout or stderr cannot be written; its buffer is dropped, so that the error is reported once.
    """
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            _drop(stream)
            raise unwritable(name, error) from error


def _drop(stream: TextIO) -> None:
    """Send the buffer of a stream that cannot be written to /dev/null, because Python flushes it once more at its end."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
