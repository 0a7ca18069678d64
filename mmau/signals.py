"""Signals that end a program, raised as an exception in the main thread, so that the running code cleans up."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

REPEAT = 5.0
"""Seconds in which a repeated signal is ignored, so that it does not interrupt the clean-up: a closing terminal sends SIGHUP
twice. A later signal ends the clean-up too."""

AFTER = 0.01
"""Seconds after which a signal is repeated that Python has dropped."""


class Ended(BaseException):
    """A signal asked the program to end. Not an Exception, so that no error handler catches it."""

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
        self._repeats: threading.Thread | None = None

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
        """Repeat a signal whose exception Python has dropped, because it came while an object was removed; as a hook for
        exceptions that cannot be raised."""
        if not isinstance(unraisable.exc_value, Ended):
            self._hook(unraisable)
            return
        self._raised = -REPEAT
        main = threading.main_thread().ident
        if main is not None:
            self._repeats = threading.Thread(target=self._repeat, args=(main, unraisable.exc_value.signum))
            self._repeats.start()

    def _repeat(self, main: int, signum: int) -> None:
        """Repeat a signal once `again` has ended, whose own exceptions Python drops too."""
        time.sleep(AFTER)
        while _is_running(Signals.again.__code__, main):
            time.sleep(AFTER)
        if self._raised < math.inf:
            signal.pthread_kill(main, signum)

    def stop(self) -> None:
        """Repeat nothing any more: the run has ended."""
        self._raised = math.inf
        if self._repeats is not None:
            self._repeats.join()


def _is_running(code: CodeType, thread: int) -> bool:
    """Whether a thread is inside of a function."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


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
