"""Programs that are ended: at once and with all that they started, or killed at any moment; the next run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mmau.jobs.exit_status import program
from tests.docs.documents import ROOT
from tests.golden.processes.running import alive

pytestmark = pytest.mark.usefixtures("default_signals")

TASKS, SECONDS = 40, 0.05


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.mmau.jobs.squares_program", *map(str, words)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.01)


def written(pids: Path, number: int) -> list[int]:
    """The numbers in a file, once there are so many."""
    wait_until(lambda: pids.exists() and pids.read_text().count("\n") >= number)
    return [int(line) for line in pids.read_text().split()]


def kept(folder: Path) -> dict[str, Any]:
    """The contents of a store, without times."""
    found = {}
    for path in sorted((folder / "results").iterdir()):
        record = json.loads(path.read_text())
        found[path.name] = {key: value for key, value in record.items() if key not in ("seconds", "digest")}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_signal_ends_workers_and_their_children_at_once(signum: signal.Signals, tmp_path: Path) -> None:
    running = start(tmp_path / "store", 3, 0, "long_program")
    children = written(tmp_path / "store.pids", 2)
    assert all(map(alive, children))
    began = time.monotonic()
    running.send_signal(signum)
    _, told = running.communicate(timeout=120)
    assert time.monotonic() - began < 60
    assert running.returncode == 128 + signum
    assert told == f"squares: ended by {signum.name}; finished tasks are stored, run it again to resume\n"
    assert not any(map(alive, children))
    assert kept(tmp_path / "store") == {}


@pytest.mark.slow
def test_kill_ends_workers_and_their_children(tmp_path: Path) -> None:
    running = start(tmp_path / "store", 3, 0, "long_program")
    children = written(tmp_path / "store.pids", 2)
    running.kill()
    running.communicate(timeout=120)
    wait_until(lambda: not any(map(alive, children)))


@pytest.mark.slow
def test_worker_that_is_killed_is_a_crashed_task_and_the_rest_goes_on(tmp_path: Path) -> None:
    running = start(tmp_path / "store", TASKS, SECONDS)
    assert running.stdout is not None
    running.stdout.readline()
    for name in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((name / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == running.pid:
            os.kill(int(name.name), signal.SIGKILL)
            break
    output, told = running.communicate(timeout=300)
    assert running.returncode == 0
    statuses = [record["status"] for record in kept(tmp_path / "store").values()]
    assert len(statuses) == TASKS
    assert statuses.count("done") >= TASKS - 1
    assert statuses.count("crashed") == told.count(" crashed: its process was ended by SIGKILL")
    assert len(output.splitlines()) == TASKS  # the first is read, the sum comes last


@pytest.mark.long
@pytest.mark.parametrize(
    ("kills", "tasks"), [pytest.param(3, 30, marks=pytest.mark.slow), pytest.param(25, 250, marks=pytest.mark.long)]
)
def test_killed_at_random_moments_it_ends_as_if_it_never_was(kills: int, tasks: int, tmp_path: Path) -> None:
    whole, parts, total = tmp_path / "whole", tmp_path / "parts", str(sum(x * x for x in range(tasks)))
    assert start(whole, tasks, SECONDS).communicate(timeout=300)[0].split()[-1] == total
    rng, told = Random(kills), []
    for _ in range(kills):
        running = start(parts, tasks, SECONDS)
        assert running.stdout is not None
        told += [running.stdout.readline().strip() for _ in range(rng.randrange(8))]
        time.sleep(rng.uniform(0.0, 2 * SECONDS))
        running.kill()
        told += running.communicate(timeout=300)[0].splitlines()
        assert total not in told, "it was done before it was killed"
    last = start(parts, tasks, SECONDS)
    output, errors = last.communicate(timeout=300)
    assert (last.returncode, output.split()[-1]) == (0, total), errors
    assert "damaged" not in errors
    assert kept(parts) == kept(whole)
    names = [line for line in [*told, *output.splitlines()] if line.startswith("x = ")]
    assert len(names) == len(set(names)), "a task that was kept ran again"


FULL_DISK = """
mount -t tmpfs -o size=200k none "$1" || exit 77
"$2" -m tests.mmau.jobs.squares_program "$1/store" 200 0
status=$?
mount -o remount,size=20m "$1"
"$2" -m tests.mmau.jobs.squares_program "$1/store" 200 0 || exit 78
exit $status
"""


@pytest.mark.long
@pytest.mark.slow
def test_full_disk_is_one_message_and_the_next_run_goes_on(tmp_path: Path) -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", FULL_DISK, "bash"]
    command = [*namespace, str(tmp_path), sys.executable]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system of one's own cannot be mounted here")
    assert done.returncode == 2, done.stderr
    message = next(line for line in done.stderr.splitlines() if "No space left" in line)
    assert message.startswith(f"squares: {tmp_path}/store")
    assert message.endswith("No space left on device; finished tasks are stored: run this again to resume")
    *names, total = done.stdout.splitlines()
    assert total == str(sum(x * x for x in range(200)))
    assert sorted(names) == sorted(f"x = {x}" for x in range(200))


@pytest.mark.parametrize(
    ("error", "message"),
    [(ValueError("no such unit"), "p: no such unit\n"), (OSError("nowhere to write"), "p: nowhere to write\n")],
)
def test_error_is_one_line_and_status_2(error: Exception, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise error

    assert program("p", main) == 2
    assert capsys.readouterr().err == message


def test_other_errors_are_reported_where_they_are_expected(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise LookupError("not here")

    assert program("p", main, (LookupError,)) == 2
    assert capsys.readouterr().err == "p: not here\n"
    with pytest.raises(LookupError):
        program("p", main)
