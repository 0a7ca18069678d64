"""Signals that end a command, as an exception in the main thread, so that whatever is under way cleans up after itself."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

REPEAT = 5.0
"""Seconds in which a repeated signal is taken for the first one, so that it does not interrupt the clean-up: a closing
terminal sends SIGHUP twice. A signal that comes later ends the clean-up too."""


class Ended(BaseException):
    """A signal asked the program to end. No Exception, so that no handler of errors takes it for one."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"ended by {signal.Signals(signum).name}")
        self.signum = signum


class Signals:
    """The handler of the signals in `ENDING`.

    Attributes:
        leaves_nothing: there is nothing to clean up yet, and the process ends at once. While packages are imported it has
            to: extension modules turn an exception into another one, or drop it.
        received: what came, for code that turns an exception into another one later.
    """

    def __init__(self) -> None:
        self.leaves_nothing = True
        self.received: int | None = None
        self._raised = 0.0

    def handle(self, signum: int, frame: FrameType | None) -> None:
        """End the process, or raise `Ended`."""
        if self.leaves_nothing:
            try:
                os.write(2, f"mmau: {Ended(signum)}\n".encode())
            finally:
                os._exit(128 + signum)
        now = time.monotonic()
        if self.received is None or now - self._raised > REPEAT:
            self.received, self._raised = signum, now
            raise Ended(signum)


@contextmanager
def raised_as_ended() -> Iterator[Signals]:
    """Handle the signals of `ENDING`; those that are ignored (nohup, a job in the background) stay ignored."""
    signals, before = Signals(), {}
    try:
        for signum in ENDING:
            if signal.getsignal(signum) is not signal.SIG_IGN:
                before[signum] = signal.signal(signum, signals.handle)
    except ValueError:  # not the main thread, which alone handles signals
        pass
    try:
        yield signals
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
