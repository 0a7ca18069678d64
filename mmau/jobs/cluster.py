"""The engine of a cluster: tasks on the workers of a Dask scheduler, and so on Slurm, LSF, PBS and Kubernetes.

If a worker is lost, its task is sent again; if the scheduler is lost, all running tasks are. Each task yields one outcome,
the first to arrive. Dask pickles its messages, between machines that trust each other; they hold of this project's data the
name of a function, JSON texts and bytes.
"""

import gc
import json
import logging
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from mmau.jobs.processes import Processes, WorkerError
from mmau.jobs.remote import carry, made_with, unpacked
from mmau.jobs.task import CRASHED, Engine, Limits, Outcome, Task

SCHEDULER = "MMAU_SCHEDULER"
"""The variable of the environment that names a scheduler."""

ANSWER = 10.0
"""Time-out of a connection to a scheduler (s)."""

PATIENCE = 120.0
"""Seconds for which a lost scheduler is tried again."""

ROUND = 1.0
"""Seconds between two counts of the workers."""

WITHOUT_WORKERS = 30.0
"""Seconds without a worker after which a message is printed."""

AHEAD = 2
"""Tasks that a thread of the cluster is given at a time: one waits while another runs."""


class _SchedulerLost(Exception):
    """The scheduler is lost, with the state of its tasks."""


def engine_for(scheduler: str | None, workers: int | None = None) -> Engine:
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
        address: of the scheduler, such as tcp://host:8786.
        patience: seconds for which a lost scheduler is tried again.

    Attributes:
        workers: threads of its workers when it was first asked; more may come and go.

    Raises:
        WorkerError: the package `distributed` is not installed, or no scheduler answers there.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self.address, self.patience = address, patience
        session = _Session(address)
        self.workers = session.threads()
        session.close()

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """As `mmau.jobs.task.Engine`.

        Raises:
            WorkerError: the scheduler is gone, or a worker cannot carry out tasks of this project.
        """
        waiting, began = deque(tasks), time.monotonic()
        session = _Session(self.address)
        try:
            while True:
                if limits.start is not None and time.monotonic() - began >= limits.start:
                    waiting.clear()
                if not waiting and not session.running:
                    return
                try:
                    for _ in range(min(len(waiting), session.room())):
                        session.submit(work, waiting[0], limits.task)
                        waiting.popleft()
                    for task, message in session.ended():
                        folder = scratch / uuid4().hex
                        yield self._outcome(task, message, folder)
                        shutil.rmtree(folder, ignore_errors=True)
                except _SchedulerLost as lost:
                    waiting.extendleft(reversed(session.running.values()))
                    session.close()
                    session = self._found_again(lost)
        finally:
            session.close()

    def _outcome(self, task: Task, message: bytes | str, folder: Path) -> Outcome:
        if isinstance(message, str):
            return Outcome(task, CRASHED, 0.0, message=message)
        try:
            return unpacked(message, task, folder)
        except WorkerError as error:
            raise WorkerError(f"{error}; install the same version of mmau and of its packages on every machine") from error

    def _found_again(self, lost: _SchedulerLost) -> "_Session":
        """A session with the scheduler that replaces a lost one at the same address."""
        print(f"jobs: the scheduler at {self.address} is lost ({lost}); waiting for it", file=sys.stderr, flush=True)
        until = time.monotonic() + self.patience
        while True:
            try:
                return _Session(self.address, min(ANSWER, self.patience))
            except WorkerError as error:
                if time.monotonic() > until:
                    raise WorkerError(f"{error}; finished tasks are stored: run this again to resume") from error
            time.sleep(ROUND)


class _Session:
    """A session with one scheduler.

    Attributes:
        running: the running tasks, by their keys in Dask.
    """

    def __init__(self, address: str, answer: float | None = None) -> None:
        self.running: dict[str, Task] = {}
        self._futures: dict[str, Any] = {}
        self._client, self._without = _client(address, ANSWER if answer is None else answer), time.monotonic()
        self._address, self._reported = address, False

    def threads(self) -> int:
        """The number of tasks that the workers execute at a time."""
        try:
            found = sum(self._client.nthreads().values())
        except Exception as error:  # any error of the network
            raise _SchedulerLost(error) from error
        if found:
            self._without = time.monotonic()
        elif time.monotonic() - self._without > WITHOUT_WORKERS and not self._reported:
            print(f"jobs: no worker has joined {self._address} yet; waiting", file=sys.stderr, flush=True)
            self._reported = True
        return int(found)

    def room(self) -> int:
        """The number of tasks that can be sent now."""
        return max(1, AHEAD * self.threads()) - len(self.running)

    def submit(self, work: str, task: Task, seconds: float | None) -> None:
        """Send a task."""
        sent = {"name": task.name, "content": task.content, "depends": task.depends}
        request = json.dumps({"work": work, "task": sent, "seconds": seconds, "made_with": made_with()})
        key = f"mmau-{task.key}-{uuid4().hex}"  # a scheduler never takes it for a task that was sent before
        try:
            self._futures[key] = self._client.submit(carry, request, key=key, pure=False)
        except Exception as error:
            raise _SchedulerLost(error) from error
        self.running[key] = task

    def ended(self) -> Iterator[tuple[Task, bytes | str]]:
        """Tasks that have ended since the last call, each with its message or the reason for none; waits at most `ROUND`.

        Raises:
            _SchedulerLost: the tasks still in `running` will not end.
        """
        from distributed import wait

        if self._futures:
            try:
                with suppress(TimeoutError), self._client.as_current():
                    wait(list(self._futures.values()), timeout=ROUND, return_when="FIRST_COMPLETED")
            except Exception as error:  # of all tasks, where the connection is lost just then
                raise _SchedulerLost(type(error).__name__) from error
        if self._client.status != "running":
            raise _SchedulerLost(f"connection {self._client.status}")
        for key in [key for key, future in self._futures.items() if future.done()]:
            message = self._message(self._futures[key])
            if message is not None:
                del self._futures[key]
                yield self.running.pop(key), message

    def close(self) -> None:
        """Cancel the running tasks and disconnect from the scheduler."""
        with suppress(Exception):
            self._client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        with suppress(Exception):
            self._client.close(timeout=2)

    def _message(self, future: Any) -> bytes | str | None:
        """The message of a task; None if its worker is gone and another one takes the task."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if future.status in ("cancelled", "lost"):
            raise _SchedulerLost(f"its tasks are {future.status}")
        try:
            message: bytes = future.result(timeout=ANSWER)
        except KilledWorker:
            return "every worker that ran it was lost (killed, or out of memory)"
        except FutureCancelledError as error:
            raise _SchedulerLost("its tasks are cancelled") from error
        except (TimeoutError, OSError):
            return None
        except ImportError as error:
            raise WorkerError(f"a worker of {self._address} lacks mmau: {error}; install it on every machine") from error
        except Exception as error:  # an error of the cluster; an exception of the task is part of its outcome
            return f"{type(error).__name__}: {error}"
        return message


def _client(address: str, answer: float) -> Any:
    """A connection to a scheduler.

    Raises:
        WorkerError: as `Cluster`.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise WorkerError(
            "a cluster needs the package distributed, which is not installed; pip install 'mmau[explore]'"
        ) from error
    for name in ("distributed", "distributed.client"):  # replaced by one line of `_Session`
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with _nothing_collected():
            return Client(address, timeout=answer, set_as_default=False, direct_to_workers=False)
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
