"""Signals that end a program, raised as an exception in the main thread, so that the running code cleans up."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

REPEAT = 5.0
"""Seconds in which a repeated signal is ignored, so that it does not interrupt the clean-up: a closing terminal sends SIGHUP
twice. A later signal ends the clean-up too."""

AFTER = 0.01
"""Seconds after which the exception of a signal is raised again, if Python has dropped it."""


class Ended(BaseException):
    """A signal asked the program to end. This is no Exception, so that no error handler catches it."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"ended by {signal.Signals(signum).name}")
        self.signum = signum


class Signals:
    """The handler of the signals in `ENDING`.

    Attributes:
        leaves_nothing: there is nothing to clean up yet, and the process ends at once. While packages are imported it has
            to: extension modules turn an exception into another one, or drop it.
        received: the signal received, for code that turns an exception into another one later.
    """

    def __init__(self) -> None:
        self.leaves_nothing = True
        self.received: int | None = None
        self._raised = 0.0
        self._hook = sys.unraisablehook
        self._alarm: Any = None

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

    def again(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """The hook for exceptions that Python drops: `Ended` is raised again after a moment, if it came while an object was
        removed."""
        if isinstance(unraisable.exc_value, Ended):
            before = signal.signal(signal.SIGALRM, self._raise_again)
            self._alarm = before if self._alarm is None else self._alarm
            signal.setitimer(signal.ITIMER_REAL, AFTER)
        else:
            self._hook(unraisable)

    def _raise_again(self, signum: int, frame: FrameType | None) -> None:
        """Raise `Ended`, but not inside of `again`, whose own exceptions Python drops too."""
        while frame is not None and frame.f_code is not Signals.again.__code__:
            frame = frame.f_back
        if frame is not None:
            signal.setitimer(signal.ITIMER_REAL, AFTER)
        elif self.received is not None:
            raise Ended(self.received)

    def stop(self) -> None:
        """Raise nothing any more: the run has ended."""
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm)


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
    hook, sys.unraisablehook = sys.unraisablehook, signals.again
    try:
        yield signals
    finally:
        sys.unraisablehook = hook
        signals.stop()
        for signum, handler in before.items():
            signal.signal(signum, handler)
