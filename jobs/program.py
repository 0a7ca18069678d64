"""What a program of long work does about signals and errors: one line, and an exit status that says which it was."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from jobs.processes import WorkerError

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

REPEAT = 5.0
"""Seconds in which further signals do not interrupt the clean-up that the first one began."""


class Ended(BaseException):
    """A signal asked the program to end. No Exception, so that nobody takes it for an error."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"ended by {signal.Signals(signum).name}; what is done is kept, run it again to go on")
        self.signum = signum


def program(name: str, main: Callable[[], int], errors: tuple[type[Exception], ...] = ()) -> int:
    """The exit status of a program: main's; 2 after an error, 128 + signal after a signal, each with one line on stderr.

    Args:
        name: the program's, before each line.
        main: does all of it.
        errors: what else than ValueError, OSError and WorkerError is an error of the user's.
    """
    told: tuple[type[Exception], ...] = (ValueError, OSError, WorkerError, *errors)
    try:
        with _signals_raise():
            return main()
    except Ended as ended:
        print(f"{name}: {ended}", file=sys.stderr)
        return 128 + ended.signum
    except told as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Signals raise `Ended` where the program is; those that are ignored, as under nohup, stay ignored."""
    raised: list[float] = []

    def end(signum: int, frame: FrameType | None) -> None:
        if not raised or time.monotonic() - raised[-1] > REPEAT:
            raised.append(time.monotonic())
            raise Ended(signum)

    before = {
        signum: signal.signal(signum, end) for signum in ENDING if signal.getsignal(signum) is not signal.SIG_IGN
    }  # fmt: skip
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
