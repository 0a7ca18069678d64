"""Progress: what is counted, at which rate, how long the rest takes, on a terminal and elsewhere."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from mmau.jobs import Outcome, Record, Store, Task, runs
from mmau.jobs.runs import Progress, duration
from tests.mmau.jobs.helpers import run_here, squares


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def record(tmp_path: Path) -> Record:
    with Store(tmp_path, "tests") as store:
        return store.keep(Outcome(Task("t", {}), "done", 1.0, 1))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which the test sets."""
    now = [100.0]
    monkeypatch.setattr(runs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_line_says_how_far_how_fast_and_how_long(record: Record, clock: list[float]) -> None:
    told = Progress("p", "rows", 10_000, io.StringIO())
    assert told.line() == "p: 0 of 10,000 rows"
    told.found(record, 4000)
    clock[0] += 10
    told.ended(record, 1000)
    assert told.line() == "p: 5,000 of 10,000 rows, 100 rows/s, 50 s remaining"
    told.ended(record, 5000)
    assert told.line() == "p: 10,000 of 10,000 rows, 600 rows/s"


def test_remaining_time_is_by_what_the_tasks_are_expected_to_take(record: Record, clock: list[float]) -> None:
    """Two tasks of a hundred took half of the time; by their number it would be 8 minutes."""
    told = Progress("p", "tasks", 100, io.StringIO(), weight=40.0)
    told.found(record, 1, 20.0)
    clock[0] += 10
    told.ended(record, 1, 10.0)
    assert told.line() == "p: 2 of 100 tasks, 0.1 tasks/s, 10 s remaining"


def test_first_task_of_many_says_nothing_of_the_remaining_time(record: Record, clock: list[float]) -> None:
    told = Progress("p", "tasks", 84, io.StringIO())
    clock[0] += 10
    told.ended(record, 1)
    assert told.line() == "p: 1 of 84 tasks, 0.1 tasks/s"


def test_elsewhere_than_on_a_terminal_lines_are_sparse(record: Record, clock: list[float]) -> None:
    stream = io.StringIO()
    told = Progress("p", "tasks", 100, stream)
    for _ in range(99):
        clock[0] += 1
        told.ended(record, 1)
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == [f"p: {n} of 100 tasks" for n in (30, 60, 90)]


def test_on_a_terminal_one_line_is_written_over(record: Record, clock: list[float]) -> None:
    stream = Terminal()
    told = Progress("p", "tasks", 2, stream)
    told.ended(record, 1)
    told.ended(record, 1)
    told.show(last=True)
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().count("\r\x1b[Kp: ") == 3


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"), (90_000, "25 h 0 min")],
)
def test_time_is_printed_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.slow
def test_progress_counts_what_the_caller_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = [Task("raise", {"x": 3, "do": "raise"}), *squares(1)]
    run_here(tasks, tmp_path, unit="rows", amount=lambda task: 1000)
    failed, last = capsys.readouterr().err.splitlines()
    assert failed == "tests: raise failed: RuntimeError: no such thing"
    assert re.fullmatch(r"tests: 2,000 of 2,000 rows, 1 failed, [\d,.e+]+ rows/s", last)
    run_here(tasks, tmp_path)
    assert capsys.readouterr().err == "tests: 2 of 2 tasks, 1 failed\n"
