"""The program `mmau`: runs one command and returns its exit status.

0: all agreed. 1: something differed, and nothing else. 2: the request was wrong, or a tool is missing or failed. 3: a proof
or a comparison is undecided. 128 + n: ended by signal n. Slow imports follow after the signal handlers are installed.
"""

import os
import stat
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise

from mmau import WRONG_REQUEST
from mmau.cli import streams
from mmau.signals import Ended, Signals, raised_as_ended

OPTIONS = ("--junit", "--html", "--ucis", "--rtl-coverage")
"""Options that name a report. Files of answers and of resumable work have other ones, and stay."""

MARKS = (
    b'<testsuite name="mmau.cli.',
    b'<meta name="generator" content="mmau">',
    b'ucisVersion="1.0" writtenBy="mmau"',
    b"TN:mmau\n",
)
"""Text near the beginning of each kind of report that this project writes."""

BEGINNING = 4096
"""Number of bytes of a file that are searched for a mark."""


def remove_earlier(words: Sequence[str]) -> None:
    """Remove the reports of an earlier run at the paths that a command line names, whether or not it can be parsed.

    Files that this project has not written stay, and so does what cannot be read or removed: a later check names it.
    """
    if {"-h", "--help"} & {*words}:
        return
    for path in _named(words):
        try:
            if _is_report(path):
                os.unlink(os.path.realpath(path))
        except (OSError, ValueError):  # a name with a null byte
            continue


def _named(words: Sequence[str]) -> Iterator[str]:
    """The values of `OPTIONS` among the words of a command line: `--junit FILE`, `--junit=FILE`, `--ju FILE`."""
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if len(name) > 2 and any(option.startswith(name) for option in OPTIONS):
            yield value if equals else following


def _is_report(path: str) -> bool:
    """Whether a path is a regular file that can be replaced and begins as a report of this project does."""
    mode = os.stat(path).st_mode if path else 0
    if not stat.S_ISREG(mode) or not mode & 0o222:  # to root, every file is writable
        return False
    with open(path, "rb") as stream:
        beginning = stream.read(BEGINNING)
    return any(mark in beginning for mark in MARKS)


UNFINISHED = ".* created but never used$"
"""The warning of Amaranth for parts of a design whose construction has ended early; the error that ended it is reported."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    warnings.filterwarnings("ignore", message=UNFINISHED)
    with raised_as_ended() as signals:
        try:
            return attempt(argv, signals)
        except Ended as ended:
            streams.say(f"mmau: {ended}")
            with suppress(OSError):
                streams.flush()
            return 128 + ended.signum


def attempt(argv: Sequence[str] | None, signals: Signals) -> int:
    """Parse and run the command; any error becomes one message, and so does a failure to write to stdout."""
    running, command = "mmau", ""
    try:
        streams.prepare()
        remove_earlier(sys.argv[1:] if argv is None else argv)
        try:
            arguments = import_module("mmau.cli.parser").parser().parse_args(argv)
        except SystemExit as ended:  # argparse has printed help, or what is wrong with the request
            streams.flush()
            return ended.code if isinstance(ended.code, int) else WRONG_REQUEST
        command = arguments.command
        running = f"mmau {command}"
        run = getattr(import_module(arguments.module), arguments.function)
        signals.leaves_nothing = False
        status: int = run(arguments)
        streams.flush()
        if signals.received is not None:  # whatever has dropped its exception
            raise Ended(signals.received)
    except Exception as error:
        if signals.received is not None:
            raise Ended(signals.received) from error
        streams.say(f"{running}: {message(error, command)}")
        with suppress(OSError):
            streams.flush()
        return WRONG_REQUEST
    return status


def message(error: Exception, command: str) -> str:
    """The message for an error of the request, or for any other error one line with its place in the code.

    Args:
        command: the command that raised the error; "" before a command began.
    """
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        from mmau.cli.missing_modules import missing

        return missing(error.name, command)
    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        return "the current folder no longer exists: change to another one (cd)"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory for this request"
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {where.filename}:{where.lineno}: {'; '.join(lines) or 'without a message'}"


def _folder_is_gone() -> bool:
    """Whether the folder in which the command was started has been removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
