"""The program `mmau`: runs one command, and answers for its exit status whatever happens.

0: all agreed. 1: something differed, and nothing else. 2: the request was wrong, or a tool is missing or failed. 128 + n:
ended by signal n. What takes long to import is imported once the signal handlers stand.
"""

import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from mmau import WRONG_REQUEST, streams
from mmau.signals import Ended, Signals, raised_as_ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    with raised_as_ended() as signals:
        try:
            return attempt(argv, signals)
        except Ended as ended:
            streams.say(f"mmau: {ended}")
            with suppress(OSError):
                streams.flush()
            return 128 + ended.signum


def attempt(argv: Sequence[str] | None, signals: Signals) -> int:
    """Parse and run; whatever error ends it becomes one message, and what stdout did not take is an error too."""
    running = "mmau"
    try:
        streams.prepare()
        try:
            arguments = import_module("mmau.parser").parser().parse_args(argv)
        except SystemExit as ended:  # argparse has printed help, or what is wrong with the request
            streams.flush()
            return ended.code if isinstance(ended.code, int) else WRONG_REQUEST
        running = f"mmau {arguments.command}"
        run = getattr(import_module(arguments.module), arguments.function)
        signals.leaves_nothing = False
        status: int = run(arguments)
        streams.flush()
    except Exception as error:
        if signals.received is not None:
            raise Ended(signals.received) from error
        streams.say(f"{running}: {message(error)}")
        with suppress(OSError):
            streams.flush()
        return WRONG_REQUEST
    return status


def message(error: Exception) -> str:
    """What the user is told: what is wrong with the request, or of any other error one line with its place in the code."""
    if isinstance(error, ModuleNotFoundError):
        package = str(error.name).partition(".")[0]
        return f"needs the package {package}, which is not installed; install it with: pip install 'mmau[cosim]'"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory for this request"
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {where.filename}:{where.lineno}: {'; '.join(lines) or 'without a message'}"
