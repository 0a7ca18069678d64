"""The engine of a cluster: outcomes as on one machine; whatever is lost is done again, and every task has one outcome."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mmau.jobs import CRASHED, DONE, FAILED, TIMED_OUT, Processes, Record, Task
from mmau.jobs.cluster import Cluster, engine_for
from mmau.jobs.processes import WorkerError
from tests.golden.processes.running import alive
from tests.mmau.jobs import works
from tests.mmau.jobs.dask_processes import DaskProcesses, wait_until_written
from tests.mmau.jobs.helpers import run_here, squares

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    """Two workers that no test harms."""
    found = DaskProcesses(tmp_path_factory.mktemp("dask"))
    yield found
    found.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[DaskProcesses]:
    """Two workers of a test's own."""
    folder = tmp_path / "dask"
    folder.mkdir()
    found = DaskProcesses(folder)
    yield found
    found.stop()


def noted(tmp_path: Path, count: int, seconds: float) -> list[Task]:
    starts = {"starts": str(tmp_path / "starts"), "seconds": seconds}
    return [Task(f"x = {x}", {"x": x, **starts}) for x in range(count)]


@pytest.mark.slow
def test_outcomes_and_files_are_as_on_one_machine(cluster: DaskProcesses, tmp_path: Path) -> None:
    doing = ["raise", "kill", "hang", "no JSON", None]
    tasks = [Task(f"{do}", {"x": 3, "do": do, "pids": str(tmp_path / "pids")}) for do in doing]
    records = run_here(tasks, tmp_path / "store", engine=Cluster(cluster.address), seconds=10.0)
    assert {record.task.name: (record.status, record.message) for record in records} == {
        "raise": (FAILED, "RuntimeError: no such thing\non two lines"),
        "kill": (CRASHED, "its process was ended by SIGKILL; is there too little memory?"),
        "hang": (TIMED_OUT, "did not end within 10 s"),
        "no JSON": (
            FAILED,
            "TypeError: the work function must return plain JSON: Object of type set is not JSON serializable",
        ),
        "None": (DONE, ""),
    }
    logs = {record.task.name: record.log.read_text() for record in records if record.log is not None}
    assert logs["raise"].startswith("before the end\nTraceback")
    assert logs["hang"] == "hanging\n"
    assert not alive(int((tmp_path / "pids").read_text()))
    texts = [Task(text, {"text": text}) for text in ("a", "b")]
    for record in run_here(texts, tmp_path / "files", works.write_files, engine=Cluster(cluster.address)):
        assert record.folder is not None
        assert (record.folder / "inner" / "wave.vcd").read_text() == record.task.name


@pytest.mark.slow
@pytest.mark.usefixtures("default_signals")
def test_tasks_that_are_wanted_no_more_end(cluster: DaskProcesses, tmp_path: Path) -> None:
    """As where the program is interrupted: what it started on the workers ends, with the programs of the tasks."""
    pids = tmp_path / "pids"
    task = Task("long", {"pids": str(pids)})

    def interrupt() -> None:
        wait_until_written(pids, 1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run_here([task], tmp_path / "store", works.long_program, engine=Cluster(cluster.address))
    child, until = int(pids.read_text()), time.monotonic() + 120
    while alive(child):
        assert time.monotonic() < until, "the task goes on"
        time.sleep(0.05)
    assert [record.result for record in run_here(squares(3), tmp_path / "next", engine=Cluster(cluster.address))] == [9]


@pytest.mark.long
def test_worker_that_is_killed_loses_nothing(own: DaskProcesses, tmp_path: Path) -> None:
    tasks, new = noted(tmp_path, 12, 0.3), []  # type: list[Task], list[Record]

    def kill() -> None:
        wait_until_written(tmp_path / "starts", 3)
        own.workers[0].kill()

    threading.Thread(target=kill).start()
    records = run_here(tasks, tmp_path / "store", works.noted_square, engine=Cluster(own.address), on_record=new.append)
    assert [record.result for record in records] == [x * x for x in range(12)]
    assert sorted(record.task.key for record in new) == sorted(task.key for task in tasks)
    starts = [line.split()[0] for line in (tmp_path / "starts").read_text().splitlines()]
    assert set(starts) == set(map(str, range(12)))
    assert len(starts) <= 12 + 3  # that worker's task, and its results that had not been fetched


@pytest.mark.long
def test_lost_scheduler_is_one_message_and_a_rerun_goes_on(own: DaskProcesses, tmp_path: Path) -> None:
    tasks = noted(tmp_path, 6, 0.2)

    def stop() -> None:
        wait_until_written(tmp_path / "starts", 4)
        own.stop()

    threading.Thread(target=stop).start()
    with pytest.raises(WorkerError, match=rf"^the scheduler at {own.address} is lost .*: run this again to resume$"):
        run_here(tasks, tmp_path / "store", works.noted_square, engine=Cluster(own.address))
    new: list[Record] = []
    records = run_here(tasks, tmp_path / "store", works.noted_square, on_record=new.append)
    assert [record.result for record in records] == [x * x for x in range(6)]
    assert len(new) < 6


def test_connection_that_is_lost_in_the_middle_of_waiting_is_one_message(
    cluster: DaskProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask then says of all tasks, while they are waited for, that they are cancelled."""

    def wait(*arguments: Any, **options: Any) -> Any:
        raise distributed.client.FuturesCancelledError([])

    monkeypatch.setattr(distributed, "wait", wait)
    with pytest.raises(WorkerError, match=rf"^the scheduler at {cluster.address} is lost "):
        run_here(squares(2, 3, 4), tmp_path / "store", works.square, engine=Cluster(cluster.address))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nonsense", "missing port number in address 'nonsense'"),
        ("http://host:1", "unknown address scheme 'http' (known schemes: "),
    ],
)
def test_wrong_address_is_one_message(address: str, said: str) -> None:
    with pytest.raises(WorkerError) as caught:
        Cluster(address)
    assert str(caught.value).startswith(f"no Dask scheduler answers at '{address}': {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_client_that_did_not_come_about_does_not_wait_for_the_next() -> None:
    """Collected while the next one starts, it waited for a lock of that one for ever."""
    for _ in range(3):
        with pytest.raises(WorkerError):
            Cluster("nonsense")
        assert [each for each in gc.get_objects() if isinstance(each, distributed.Client) and each.status != "closed"] == []
    assert gc.isenabled()


@pytest.mark.slow
def test_address_where_nothing_answers_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmau.jobs.cluster.ANSWER", 0.2)
    with pytest.raises(WorkerError, match=r"^no Dask scheduler answers at 'tcp://127\.0\.0\.1:1': .*; name a running one"):
        Cluster("tcp://127.0.0.1:1")


@pytest.mark.slow
def test_missing_package_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    text = r"^a cluster needs the package distributed, which is not installed; pip install 'mmau\[explore\]'$"
    with pytest.raises(WorkerError, match=text):
        Cluster("tcp://127.0.0.1:1")


@pytest.mark.slow
def test_engine_is_of_the_scheduler_or_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_for(None, 3)
    assert isinstance(engine, Processes)
    assert engine.workers == 3
    monkeypatch.setenv("MMAU_SCHEDULER", "nonsense")
    with pytest.raises(WorkerError, match=r"^no Dask scheduler answers at 'nonsense'"):
        engine_for(None, 2)
    with pytest.raises(WorkerError, match=r"^no Dask scheduler answers at 'http://named'"):
        engine_for("http://named")
