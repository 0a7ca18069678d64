"""Tasks and runs: every task has one outcome; what is kept is not done again; what is not done runs again on request."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mmau.jobs import CRASHED, DONE, Record, Store, Task, program
from tests.docs.documents import ROOT
from tests.golden.processes.running import alive, ended_soon, written
from tests.mmau.jobs import works
from tests.mmau.jobs.helpers import run_here, squares


@pytest.mark.slow
def test_results_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    records = run_here(squares(*range(20)), tmp_path, works.noisy_square)
    assert [record.result for record in records] == [x * x for x in range(20)]
    assert {record.status for record in records} == {DONE}
    assert [record.log for record in records] == [None] * 20


@pytest.mark.slow
def test_recorded_tasks_are_not_run_again(tmp_path: Path) -> None:
    run_here(squares(1, 2), tmp_path)
    new: list[Record] = []
    records = run_here(squares(3, 2, 1), tmp_path, on_record=new.append)
    assert [record.result for record in records] == [9, 4, 1]
    assert [record.task.name for record in new] == ["x = 3"]


@pytest.mark.slow
def test_name_is_no_part_of_the_key_and_what_it_depends_on_is(tmp_path: Path) -> None:
    run_here(squares(2), tmp_path)
    new: list[Record] = []
    tasks = [Task("another name", {"x": 2}), Task("x = 2", {"x": 2}, {"version": "2"})]
    run_here(tasks, tmp_path, on_record=new.append)
    assert [record.task.depends for record in new] == [{"version": "2"}]


@pytest.mark.slow
def test_statuses_are_recorded_and_run_again_on_request(tmp_path: Path) -> None:
    tasks = [Task("once", {"x": 5, "do": "fail once", "marker": str(tmp_path / "marker")}), *squares(2)]
    store, new = tmp_path / "store", []  # type: Path, list[Record]
    assert [record.status for record in run_here(tasks, store)] == [CRASHED, DONE]
    assert [record.status for record in run_here(tasks, store, on_record=new.append)] == [CRASHED, DONE]
    assert new == []
    records = run_here(tasks, store, retry=True, on_record=new.append)
    assert [record.result for record in records] == [25, 4]
    assert [record.task.name for record in new] == ["once"]
    assert list((store / "logs").iterdir()) == []


@pytest.mark.slow
def test_files_stay_with_their_result(tmp_path: Path) -> None:
    tasks = [Task(text, {"text": text}) for text in ("a", "b")]
    for _ in range(2):
        for record in run_here(tasks, tmp_path, works.write_files):
            assert record.result == ["inner"]
            assert record.folder is not None
            assert (record.folder / "inner" / "wave.vcd").read_text() == record.task.name


def test_two_tasks_of_one_content_are_refused(tmp_path: Path) -> None:
    tasks = [Task("first", {"x": 1}), Task("second", {"x": 1})]
    text = "tasks first and second have the same content; give each task once"
    with pytest.raises(ValueError, match=f"^{text}$"):
        run_here(tasks, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "seconds of a task must be above 0 and at most 10000000, got 0"),
        ({"seconds": float("nan")}, "seconds of a task must be above 0 and at most 10000000, got nan"),
        ({"start_within": -1}, "seconds in which tasks start must be from 0 to 10000000, got -1"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
    ],
)
def test_bad_options_are_one_message(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        run_here(squares(1), tmp_path, **options)


@pytest.mark.slow
def test_full_disk_stops_the_run_and_a_rerun_goes_on(tmp_path: Path) -> None:
    full = Task("full", {"x": 7, "do": "full"})
    tasks = [*squares(1), full, *squares(2, 3)]
    text = (
        "task full failed: No space left on device; finished tasks are stored: free disk space and run this again to resume"
    )
    with pytest.raises(OSError, match=f"^{text}$"):
        run_here(tasks, tmp_path, workers=1)
    new: list[Record] = []
    records = run_here([*squares(1, 2, 3)], tmp_path, on_record=new.append)
    assert [record.result for record in records] == [1, 4, 9]
    assert {record.task.name for record in new} == {"x = 2", "x = 3"}
    with Store(tmp_path, "tests") as store:
        assert store.find(full) is None


@pytest.mark.slow
def test_after_a_time_no_task_starts_and_those_that_run_end(tmp_path: Path) -> None:
    tasks = [Task(f"x = {x}", {"x": x, "seconds": 0.4}) for x in range(9)]
    assert run_here(tasks, tmp_path, works.slow_square, start_within=0.0) == []
    some = run_here(tasks, tmp_path, works.slow_square, workers=1, start_within=1.0)
    assert len(some) < 9
    assert [record.result for record in some] == [x * x for x in range(len(some))]
    assert len(run_here(tasks[: len(some) + 1], tmp_path, works.slow_square)) == len(some) + 1


TASKS, SECONDS = 40, 0.05


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.mmau.jobs.squares_program", *map(str, words)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def kept(folder: Path) -> dict[str, Any]:
    """The contents of a store, without times."""
    found = {}
    for path in sorted((folder / "results").iterdir()):
        record = json.loads(path.read_text())
        found[path.name] = {key: value for key, value in record.items() if key not in ("seconds", "digest")}
    return found


@pytest.mark.usefixtures("default_signals")
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


@pytest.mark.usefixtures("default_signals")
@pytest.mark.slow
def test_kill_ends_workers_and_their_children(tmp_path: Path) -> None:
    running = start(tmp_path / "store", 3, 0, "long_program")
    children = written(tmp_path / "store.pids", 2)
    running.kill()
    running.communicate(timeout=120)
    assert ended_soon(children)


@pytest.mark.usefixtures("default_signals")
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


@pytest.mark.usefixtures("default_signals")
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


@pytest.mark.parametrize("error", [ValueError("no such unit"), OSError("nowhere to write"), LookupError("not here")])
def test_expected_error_is_one_line_and_status_2(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise error

    assert program("p", main, (LookupError,)) == 2
    assert capsys.readouterr().err == f"p: {error}\n"
    if isinstance(error, LookupError):
        with pytest.raises(LookupError):
            program("p", main)


def test_key_is_of_content_and_of_what_it_depends_on_in_any_order() -> None:
    task = Task("a name", {"x": 2, "y": [1, None]}, {"version": "1"})
    assert task.key == Task("another", {"y": [1, None], "x": 2}, {"version": "1"}).key
    assert len(task.key) == 64
    others = [
        Task("", {"x": 2, "y": [1]}, {"version": "1"}),
        Task("", task.content, {"version": "2"}),
        Task("", task.content),
    ]
    assert len({task.key, *(other.key for other in others)}) == 4


def test_content_is_as_it_comes_back_from_a_file() -> None:
    assert Task("t", {"pair": (1, 2)}).content == {"pair": [1, 2]}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {"a": object()}])
def test_task_that_is_no_plain_data_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^content of task t must be plain JSON: "):
        Task("t", {"x": value})


def test_work_function_that_nobody_finds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^a work function must be at the top of a module that can be imported, got <function"
    ):
        run_here(squares(1), tmp_path, lambda content, folder: 1)
