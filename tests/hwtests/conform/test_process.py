"""A worker under watch: what ends it, and what does not disturb it."""

import sys
import time
from typing import Any

import pytest

from hwtests.conform.process import DeadlinePassed, WorkerStopped, watched

EVENT = "import json, os, sys, time; say = lambda **x: print(json.dumps({'event': 'item'} | x), flush=True); "


def events_of(script: str, patience: float = 60.0, seconds: float = 60.0) -> list[dict[str, Any]]:
    """The events of a worker that may take so many seconds in all."""
    command = (sys.executable, "-c", EVENT + script)
    return list(watched(command, {}, patience, deadline=time.monotonic() + seconds))


@pytest.mark.parametrize(
    "script",
    ["time.sleep(60)", "say(allow=600); time.sleep(60)", "print('warming up', flush=True); time.sleep(60)"],
    ids=["cold start", "announced step", "no event yet"],
)
def test_deadline_ends_what_might_take_longer(script: str) -> None:
    started = time.monotonic()
    with pytest.raises(DeadlinePassed):
        events_of(script, seconds=0.6)
    assert time.monotonic() - started < 30


def test_deadline_ends_a_worker_that_goes_on_and_on() -> None:
    with pytest.raises(DeadlinePassed):
        events_of("\nwhile True: say(); time.sleep(0.01)", seconds=0.6)


def test_silence_before_the_deadline_is_a_hang() -> None:
    with pytest.raises(WorkerStopped, match=r"^hung: no output for 0\.5 s$"):
        events_of("say(); time.sleep(60)", patience=0.5)


def test_words_are_no_sign_of_life() -> None:
    with pytest.raises(WorkerStopped, match=r"^hung: no output for 1 s$"):
        events_of("say()\nwhile True: print('warming up', flush=True); time.sleep(0.1)", patience=1.0)


def test_worker_that_closes_its_output_and_stays_hangs() -> None:
    with pytest.raises(WorkerStopped, match=r"^hung: it did not end within 1 s$"):
        events_of("say(); os.close(1); time.sleep(60)", patience=1.0)


@pytest.mark.parametrize("line", ["a library's warning", "5", "[]", '{"x": 1}', ""])
def test_line_that_is_no_event_is_passed_over(line: str) -> None:
    assert events_of(f"print({line!r}); say(name='x')") == [{"event": "item", "name": "x"}]


def test_line_that_is_no_event_is_the_reason_where_there_is_no_other() -> None:
    with pytest.raises(WorkerStopped, match=r"^crashed: Illegal instruction in a library$"):
        events_of("print('Illegal instruction in a library', flush=True); sys.exit(3)")
