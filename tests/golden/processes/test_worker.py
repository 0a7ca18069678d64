"""Workers: events are separated from other output, and a worker ends with its caller during any work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from golden.processes import Ended, Worker
from golden.processes.child import MARK
from tests.golden.processes.running import alive, ended_soon, written

ANSWERS = """
import os, subprocess, sys
from golden.processes import Channel
channel = Channel()
while True:
    message = channel.receive()
    print("a library's words", flush=True)
    os.write(1, b'{"event": "of somebody else"}\\n')
    subprocess.run(["echo", '{"event": "of a program"}'])
    assert sys.stdin.read() == ""
    channel.send("answer", text=message["text"])
"""


def events(worker: Worker, number: int) -> list[object]:
    found: list[object] = []
    while len(found) < number:
        found += worker.receive()
    return found


@pytest.mark.slow
def test_events_are_apart_from_what_the_worker_and_its_programs_write() -> None:
    """However long a message is, and although several may come at once."""
    worker = Worker([sys.executable, "-c", ANSWERS])
    long = "é\n" * (1 << 20)
    for text in ("first", long, "last"):
        worker.send({"text": text})
    assert events(worker, 3) == [{"event": "answer", "text": text} for text in ("first", long, "last")]
    assert worker.log() == 'a library\'s words\n{"event": "of somebody else"}\n{"event": "of a program"}\n' * 3
    worker.clear_log()
    worker.send({"text": "again"})
    events(worker, 1)
    assert worker.end() == Ended(-9, 'a library\'s words\n{"event": "of somebody else"}\n{"event": "of a program"}\n')


def test_program_without_a_channel_tells_events_too() -> None:
    script = r"""printf '{"event": 1}\nwords\n{"x": 1}\n[]\n{"event"'; sleep 0.3; printf ': 2}\nthe end'; exit 3"""
    worker = Worker(["sh", "-c", script])
    assert events(worker, 2) == [{"event": 1}, {"event": 2}]
    worker.wait(60)
    assert worker.receive() == []
    with pytest.raises(EOFError):
        worker.receive()
    assert worker.end() == Ended(3, 'words\n{"x": 1}\n[]\nthe end\n')


def test_the_end_of_a_log_is_read() -> None:
    worker = Worker(["sh", "-c", "head -c 1000000 /dev/zero >&2; echo >&2; echo last >&2"])
    worker.wait(60)
    status, log = worker.end()
    assert status == 0
    assert log.endswith("\nlast\n")
    assert len(log) == 1 << 16


def test_message_to_a_worker_that_has_ended_is_no_error() -> None:
    worker = Worker(["true"])
    worker.wait(60)
    worker.send({"text": "x" * (1 << 20)})
    with pytest.raises(EOFError):
        worker.receive()
    assert worker.end() == Ended(0, "")


def test_program_that_is_missing_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        Worker(["/no/such/program"])


HANGS = """
import os, subprocess, sys, time
from golden.processes import Channel
channel = Channel()
children = [subprocess.Popen(["sleep", "600"], start_new_session=apart) for apart in (False, True)]
open(sys.argv[1], "w").write("".join(f"{number}\\n" for number in (os.getpid(), *(child.pid for child in children))))
time.sleep(600)
"""


@pytest.mark.slow
def test_end_takes_what_the_worker_started_in_any_session(tmp_path: Path) -> None:
    worker = Worker([sys.executable, "-c", HANGS, str(tmp_path / "pids")])
    processes = written(tmp_path / "pids", 3)
    assert worker.end().status == -9
    assert not any(map(alive, processes))


CALLS = """
import sys
from golden.processes import Channel, Worker
channel = Channel() if sys.argv[1] == "worker" else None
Worker([sys.executable, "-c", *sys.argv[2:]]).receive()
"""


ENDS_WITH_ITS_CHILD = """
import os, subprocess, sys, time
from golden.processes import Channel

def kill_slowly(*what, kill=os.kill):
    kill(*what)
    time.sleep(0.3)

os.kill = kill_slowly
channel = Channel()
children = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(4)]
open(sys.argv[1], "w").write("".join(f"{child.pid}\\n" for child in children))
os.wait()
"""


@pytest.mark.slow
def test_all_children_are_ended_although_the_worker_ends_with_the_first(tmp_path: Path) -> None:
    """The worker's own exit, for example after a killed program, must not interrupt the killing."""
    words = [sys.executable, "-c", CALLS, "program", ENDS_WITH_ITS_CHILD, str(tmp_path / "pids")]
    with subprocess.Popen(words) as caller:
        processes = written(tmp_path / "pids", 4)
        caller.kill()
    assert ended_soon(processes)


@pytest.mark.slow
def test_worker_that_is_started_by_hand_ends_with_its_input() -> None:
    environment = {key: value for key, value in os.environ.items() if key != MARK}
    words = [sys.executable, "-c", "from golden.processes import Channel; Channel().receive(); input()"]
    done = subprocess.run(words, input="", env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_worker_ends_with_a_caller_that_is_killed_and_takes_all_along(tmp_path: Path) -> None:
    """In the middle of its work; a worker of a worker does too."""
    words = [sys.executable, "-c", CALLS, "program", CALLS, "worker", HANGS, str(tmp_path / "pids")]
    with subprocess.Popen(words) as caller:
        processes = written(tmp_path / "pids", 3)
        assert all(map(alive, processes))
        caller.kill()
    assert ended_soon(processes)
