"""Runs tasks: stored results are not computed again, new ones are stored at once; `program` ends a program that does so."""

import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TextIO

from mmau.jobs.processes import Processes, WorkerError
from mmau.jobs.store import Record, Store
from mmau.jobs.task import DONE, Engine, Limits, Task, Work, name_of
from mmau.signals import Ended, raised_as_ended

SECONDS_A_LINE = 30.0
"""Seconds between two lines where the output is not a terminal."""


class ProgressLine(ABC):
    """A line of progress: on a terminal it is written over itself, elsewhere at most every `SECONDS_A_LINE`.

    Args:
        what: begins a message elsewhere. stream: for the output; None for stderr.
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what, self._stream = what, sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._started = self._printed = time.monotonic()

    @abstractmethod
    def line(self) -> str:
        """The progress as text."""

    def show_in_time(self, at_end: bool = False) -> None:
        """Print the line on a terminal; elsewhere if the last one is old, and more will come."""
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


EARLY = 0.05
"""The share of the work that must be done before the remaining time is told: the first task says little of the others."""


class Progress(ProgressLine):
    """Counts finished tasks and prints the progress.

    Args:
        what: the kind of tasks. unit: the counted items, in the plural. wanted: their total number.
        stream: for the output; None for stderr. weight: expected time of all tasks, in any unit; None for that of as many
            items of equal time.
    """

    def __init__(self, what: str, unit: str, wanted: int, stream: TextIO | None = None, weight: float | None = None) -> None:
        super().__init__(what, stream)
        self._unit, self._wanted = unit, wanted
        self._found = self._now = 0
        self._left, self._past = float(wanted) if weight is None else weight, 0.0
        self._others: Counter[str] = Counter()

    def found(self, record: Record, amount: int, weight: float | None = None) -> None:
        """Count a record of an earlier run."""
        self._found += amount
        self._left -= amount if weight is None else weight
        self._count(record)

    def ended(self, record: Record, amount: int, weight: float | None = None) -> None:
        """Count a task that has ended now; a task that is not done is reported on a separate line."""
        self._now += amount
        self._left -= amount if weight is None else weight
        self._past += amount if weight is None else weight
        self._count(record)
        if not record.done:
            self.say(f"{record.task.name} {record.status}: {record.message.partition(chr(10))[0]}")
        self.show_in_time(self._found + self._now == self._wanted)

    def line(self) -> str:
        """The progress as text: counts, the rate of this run, and the remaining time by what the finished tasks took."""
        at = self._found + self._now
        words = [f"{self._what}: {at:,} of {self._wanted:,} {self._unit}"]
        words += [f"{number:,} {status}" for status, number in sorted(self._others.items())]
        seconds = time.monotonic() - self._started
        if self._now and seconds > 0:
            rate = self._now / seconds
            words.append(f"{rate:,.3g} {self._unit}/s" if rate < 100 else f"{rate:,.0f} {self._unit}/s")
            if at < self._wanted and self._past >= EARLY * (self._past + self._left):
                words.append(f"{duration(seconds * self._left / self._past)} remaining")
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


def run(
    tasks: Iterable[Task],
    work: Work,
    store: Store,
    *,
    workers: int | None = None,
    engine: Engine | None = None,
    seconds: float | None = None,
    start_within: float | None = None,
    retry: bool = False,
    on_record: Callable[[Record], None] = lambda record: None,
    unit: str = "tasks",
    amount: Callable[[Task], int] = lambda task: 1,
    weight: Callable[[Task], float] | None = None,
) -> list[Record]:
    """Execute the tasks without an outcome in the store.

    Args:
        tasks: with distinct keys.
        work: a function at the top of a module (see `Work`). It runs in a worker.
        workers: processes; None for one per core.
        engine: executes the tasks in place of worker processes.
        seconds: limit for each task (wall time); None for none.
        start_within: seconds after which no more tasks are started; None for no limit.
        retry: whether tasks that failed, crashed or timed out run again.
        on_record: called with each new record once it is stored.
        unit, amount: the items that the progress counts, and the number of them in a task.
        weight: the expected time of a task, above 0, in any unit, for the remaining time; None for its amount.

    Returns:
        A record for each task that has an outcome, in their order.

    Raises:
        ValueError: two tasks have one key, a limit is out of range, or another process cannot find the work function.
        WorkerError: worker processes cannot be started.
        OSError: a disk is full, or the store cannot be written; finished tasks are stored, as after a signal.
    """
    wanted, limits = distinct(tasks), Limits(seconds, start_within)
    chosen = Processes(workers) if engine is None else engine
    expected: Callable[[Task], float] = amount if weight is None else weight
    whole = sum(expected(task) for task in wanted.values())
    progress = Progress(store.what, unit, sum(amount(task) for task in wanted.values()), weight=whole)
    for message in store.damaged:
        progress.say(message)
    reported = len(store.damaged)
    records: dict[str, Record] = {}
    for key, task in wanted.items():
        record = store.find(task)
        if record is not None and (record.done or not retry):
            records[key] = record
            progress.found(record, amount(task), expected(task))
    for message in store.damaged[reported:]:
        progress.say(message)
    waiting = [task for key, task in wanted.items() if key not in records]
    if waiting:
        with store.scratch() as scratch, closing(chosen.outcomes(name_of(work), waiting, limits, scratch)) as outcomes:
            for outcome in outcomes:
                store.check_space(outcome)
                record = records[outcome.task.key] = store.keep(outcome)
                progress.ended(record, amount(outcome.task), expected(outcome.task))
                on_record(record)
    progress.show(last=True)
    return [records[key] for key in wanted if key in records]


def distinct(tasks: Iterable[Task]) -> dict[str, Task]:
    """The tasks by their keys.

    Raises:
        ValueError: two have one key.
    """
    found: dict[str, Task] = {}
    for task in tasks:
        other = found.setdefault(task.key, task)
        if other is not task:
            raise ValueError(f"tasks {other.name} and {task.name} have the same content; give each task once")
    return found


def program(name: str, main: Callable[[], int], errors: tuple[type[Exception], ...] = ()) -> int:
    """The exit status of a program: main's; 2 after an error, 128 + signal after a signal, each with one line on stderr.

    Args:
        name: the name of the program, printed before each line.
        main: runs the program.
        errors: exceptions reported as one line besides ValueError, OSError and WorkerError.
    """
    reported: tuple[type[Exception], ...] = (ValueError, OSError, WorkerError, *errors)
    try:
        with raised_as_ended() as signals:
            signals.leaves_nothing = False
            return main()
    except Ended as ended:
        print(f"{name}: {ended}; finished tasks are stored, run it again to resume", file=sys.stderr)
        return 128 + ended.signum
    except reported as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
