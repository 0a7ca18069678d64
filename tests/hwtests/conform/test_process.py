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
    [
        "time.sleep(60)",
        "say(allow=600); time.sleep(60)",
        "print('warming up', flush=True); time.sleep(60)",
        "\nwhile True: say(); time.sleep(0.01)",
    ],
    ids=["cold start", "announced step", "no event yet", "on and on"],
)
def test_deadline_ends_what_might_take_longer(script: str) -> None:
    started = time.monotonic()
    with pytest.raises(DeadlinePassed):
        events_of(script, seconds=0.6)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("say(); time.sleep(60)", "hung: no output for 1 s"),
        ("say()\nwhile True: print('warming up', flush=True); time.sleep(0.1)", "hung: no output for 1 s"),
        ("say(); os.close(1); time.sleep(60)", "hung: it did not end within 1 s"),
        ("print('Illegal instruction in a library', flush=True); sys.exit(3)", "crashed: Illegal instruction in a library"),
    ],
    ids=["silence", "words", "closed output", "last words"],
)
def test_worker_that_stops_says_why(script: str, why: str) -> None:
    with pytest.raises(WorkerStopped, match=f"^{why}$"):
        events_of(script, patience=1.0)


@pytest.mark.parametrize("line", ["a library's warning", "5", "[]", '{"x": 1}', ""])
def test_line_that_is_no_event_is_passed_over(line: str) -> None:
    assert events_of(f"print({line!r}); say(name='x')") == [{"event": "item", "name": "x"}]
