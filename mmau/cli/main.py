"""The program `mmau`: runs one command and returns its exit status.

0: all agreed. 1: something differed, and nothing else. 2: the request was wrong, or a tool is missing or failed. 3: a proof
or a comparison is undecided. 128 + n: ended by signal n. Slow imports follow after the signal handlers are installed.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from mmau import WRONG_REQUEST
from mmau.cli import streams
from mmau.cli.earlier_reports import remove_earlier
from mmau.cli.missing_modules import missing
from mmau.signals import Ended, Signals, raised_as_ended

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
