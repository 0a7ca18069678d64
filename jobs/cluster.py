"""The engine of a cluster: tasks on the workers of a Dask scheduler, and so on Slurm, LSF, PBS and Kubernetes.

A task is sent again where its worker is lost, and all that are under way where the scheduler is; of each task one outcome is
handed over, whichever comes first. Dask pickles its own messages, between machines that trust each other; of ours there are
the name of a function, texts of JSON, and bytes in them.
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

from jobs.engine import Engine, Limits
from jobs.processes import Processes, WorkerError
from jobs.remote import carry, made_with, unpacked
from jobs.task import CRASHED, Outcome, Task

SCHEDULER = "MMAU_SCHEDULER"
"""The variable of the environment that names a scheduler."""

ANSWER = 10.0
"""Seconds in which a scheduler answers that is there."""

PATIENCE = 120.0
"""Seconds for which a scheduler that is gone is looked for again."""

ROUND = 1.0
"""Seconds after which it is looked whether there are more workers, or none."""

TOLD = 30.0
"""Seconds without a worker after which that is told."""

AHEAD = 2
"""Tasks that a thread of the cluster is given at a time: one waits while another runs."""


class _SchedulerLost(Exception):
    """The scheduler, with all that it knew of tasks, is gone."""


def engine_for(scheduler: str | None, workers: int | None = None) -> Engine:
    """The workers of a scheduler, or processes of this machine where none is named, by `SCHEDULER` neither.

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
        patience: seconds for which it is looked for again where it is lost.

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
        """As `jobs.engine.Engine`.

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
        """A session with the scheduler that has taken the place of one that is gone."""
        print(f"jobs: the scheduler at {self.address} is gone ({lost}); waiting for it", file=sys.stderr, flush=True)
        until = time.monotonic() + self.patience
        while True:
            try:
                return _Session(self.address, min(ANSWER, self.patience))
            except WorkerError as error:
                if time.monotonic() > until:
                    raise WorkerError(f"{error}; what is done is kept: run this again to go on") from error
            time.sleep(ROUND)


class _Session:
    """What is asked of one scheduler, as long as it is there.

    Attributes:
        running: tasks that are under way, by the key that Dask knows them by.
    """

    def __init__(self, address: str, answer: float | None = None) -> None:
        self.running: dict[str, Task] = {}
        self._futures: dict[str, Any] = {}
        self._client, self._without = _client(address, ANSWER if answer is None else answer), time.monotonic()
        self._address, self._told = address, False

    def threads(self) -> int:
        """How many tasks the workers carry out at a time."""
        try:
            found = sum(self._client.nthreads().values())
        except Exception as error:  # whatever the network makes of it
            raise _SchedulerLost(error) from error
        if found:
            self._without = time.monotonic()
        elif time.monotonic() - self._without > TOLD and not self._told:
            print(f"jobs: no worker has joined {self._address} yet; waiting", file=sys.stderr, flush=True)
            self._told = True
        return int(found)

    def room(self) -> int:
        """How many more tasks it is given."""
        return max(1, AHEAD * self.threads()) - len(self.running)

    def submit(self, work: str, task: Task, seconds: float | None) -> None:
        """Send a task."""
        told = {"name": task.name, "content": task.content, "depends": task.depends}
        request = json.dumps({"work": work, "task": told, "seconds": seconds, "made_with": made_with()})
        key = f"mmau-{task.key}-{uuid4().hex}"  # a scheduler never takes it for a task that was sent before
        try:
            self._futures[key] = self._client.submit(carry, request, key=key, pure=False)
        except Exception as error:
            raise _SchedulerLost(error) from error
        self.running[key] = task

    def ended(self) -> Iterator[tuple[Task, bytes | str]]:
        """Tasks that have ended since, each with its message, or with the reason why it has none; waits for one for a while.

        Raises:
            _SchedulerLost: nothing more will come of those that are still in `running`.
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
        """Have the tasks that are under way ended, and leave the scheduler."""
        with suppress(Exception):
            self._client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        with suppress(Exception):
            self._client.close(timeout=2)

    def _message(self, future: Any) -> bytes | str | None:
        """What became of a task; None where the worker that had it is gone, and another one takes the task."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if future.status in ("cancelled", "lost"):
            raise _SchedulerLost(f"its tasks are {future.status}")
        try:
            message: bytes = future.result(timeout=ANSWER)
        except KilledWorker:
            return "every worker that took it was lost, as where one is killed or its memory runs out"
        except FutureCancelledError as error:
            raise _SchedulerLost("its tasks are cancelled") from error
        except (TimeoutError, OSError):
            return None
        except ImportError as error:
            raise WorkerError(f"a worker of {self._address} lacks mmau: {error}; install it on every machine") from error
        except Exception as error:  # of the cluster itself: what a task raises comes as its outcome
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
    for name in ("distributed", "distributed.client"):  # what these would tell is told here, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with _nothing_collected():
            return Client(address, timeout=answer, set_as_default=False, direct_to_workers=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        said = str(error).partition("\n")[0]
    gc.collect()  # the client that did not come about ends here, and not while another one is at work
    raise WorkerError(
        f"no Dask scheduler answers at {address!r}: {said}; name one that runs, like tcp://host:8786 (`dask scheduler`)"
    )


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Without collection of garbage: a client that is collected while another one starts waits for a lock of that one, for
    ever (`distributed.utils.LoopRunner`)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
