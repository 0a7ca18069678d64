"""Prints the progress of a run: on a terminal one line that is overwritten, elsewhere a line at intervals."""

import sys
import time
from collections import Counter
from typing import TextIO

from mmau.jobs.store import Record
from mmau.jobs.task import DONE

SECONDS_A_LINE = 30.0
"""Seconds between two lines where the output is not a terminal."""


class Progress:
    """Counts finished tasks and prints the progress.

    Args:
        what: the kind of tasks. unit: the counted items, in the plural. wanted: their total number.
        stream: for the output; None for stderr.
    """

    def __init__(self, what: str, unit: str, wanted: int, stream: TextIO | None = None) -> None:
        self._what, self._unit, self._wanted = what, unit, wanted
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._found = self._now = 0
        self._others: Counter[str] = Counter()
        self._started = self._printed = time.monotonic()

    def found(self, record: Record, amount: int) -> None:
        """Count a record of an earlier run."""
        self._found += amount
        self._count(record)

    def ended(self, record: Record, amount: int) -> None:
        """Count a task that has ended now; a task that is not done is reported on a separate line."""
        self._now += amount
        self._count(record)
        if not record.done:
            self.say(f"{record.task.name} {record.status}: {record.message.partition(chr(10))[0]}")
        at_end = self._found + self._now == self._wanted
        if self._on_terminal or (not at_end and time.monotonic() - self._printed >= SECONDS_A_LINE):
            self.show()

    def show(self, last: bool = False) -> None:
        """Print the progress line."""
        self._printed = time.monotonic()
        if self._on_terminal:
            self._stream.write(f"\r\x1b[K{self.line()}" + "\n" * last)
        else:
            self._stream.write(f"{self.line()}\n")
        self._stream.flush()

    def say(self, text: str) -> None:
        """Print a message on a separate line."""
        self._stream.write(f"\r\x1b[K{text}\n" if self._on_terminal else f"{self._what}: {text}\n")
        self._stream.flush()

    def line(self) -> str:
        """The progress as text: counts, the rate of this run, and the remaining time at this rate."""
        at = self._found + self._now
        words = [f"{self._what}: {at:,} of {self._wanted:,} {self._unit}"]
        words += [f"{number:,} {status}" for status, number in sorted(self._others.items())]
        seconds = time.monotonic() - self._started
        if self._now and seconds > 0:
            rate = self._now / seconds
            words.append(f"{rate:,.3g} {self._unit}/s" if rate < 100 else f"{rate:,.0f} {self._unit}/s")
            if at < self._wanted:
                words.append(f"{duration((self._wanted - at) / rate)} remaining")
        return ", ".join(words)

    def _count(self, record: Record) -> None:
        if record.status != DONE:
            self._others[record.status] += 1


def duration(seconds: float) -> str:
    """A time in the two largest units that it has."""
    whole = round(seconds)
    minutes, hours = whole // 60, whole // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
