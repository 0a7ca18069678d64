"""How far a run has come: one line that is written over on a terminal, elsewhere a line now and then."""

import sys
import time
from collections import Counter
from typing import TextIO

from jobs.store import Record
from jobs.task import DONE

SECONDS_A_LINE = 30.0
"""How often it is told where the output is no terminal."""


class Progress:
    """Counts what is done.

    Args:
        what: what the tasks are. unit: what is counted, in the plural. wanted: how many of them there are in all.
        stream: where it is told; None for stderr.
    """

    def __init__(self, what: str, unit: str, wanted: int, stream: TextIO | None = None) -> None:
        self._what, self._unit, self._wanted = what, unit, wanted
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._found = self._now = 0
        self._others: Counter[str] = Counter()
        self._started = self._told = time.monotonic()

    def found(self, record: Record, amount: int) -> None:
        """Count what an earlier run has kept."""
        self._found += amount
        self._count(record)

    def ended(self, record: Record, amount: int) -> None:
        """Count a task that has ended now; one that is not done is told on a line of its own."""
        self._now += amount
        self._count(record)
        if not record.done:
            self.say(f"{record.task.name} {record.status}: {record.message.partition(chr(10))[0]}")
        at_end = self._found + self._now == self._wanted
        if self._on_terminal or (not at_end and time.monotonic() - self._told >= SECONDS_A_LINE):
            self.tell()

    def tell(self, last: bool = False) -> None:
        """Write how far it is."""
        self._told = time.monotonic()
        if self._on_terminal:
            self._stream.write(f"\r\x1b[K{self.line()}" + "\n" * last)
        else:
            self._stream.write(f"{self.line()}\n")
        self._stream.flush()

    def say(self, text: str) -> None:
        """Write a line of its own."""
        self._stream.write(f"\r\x1b[K{text}\n" if self._on_terminal else f"{self._what}: {text}\n")
        self._stream.flush()

    def line(self) -> str:
        """How far it is: counts, the rate of this run, and the time that the rest takes at this rate."""
        at = self._found + self._now
        words = [f"{self._what}: {at:,} of {self._wanted:,} {self._unit}"]
        words += [f"{number:,} {status}" for status, number in sorted(self._others.items())]
        seconds = time.monotonic() - self._started
        if self._now and seconds > 0:
            rate = self._now / seconds
            words.append(f"{rate:,.3g} {self._unit}/s" if rate < 100 else f"{rate:,.0f} {self._unit}/s")
            if at < self._wanted:
                words.append(f"{duration((self._wanted - at) / rate)} left")
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
