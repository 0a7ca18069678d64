"""The engine of one machine: worker processes, each a separate Python that executes tasks one by one."""

import json
import os
import selectors
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from golden.processes import Worker, ending
from golden.text import last_line
from mmau.jobs.task import CRASHED, TIMED_OUT, Outcome, Task
from mmau.jobs.task_engines import Limits
from mmau.jobs.task_worker import COMMAND, READY

T = TypeVar("T")

MOST_FAILED_STARTS = 3
"""Consecutive workers that end before they are ready, after which the run gives up; a single one may have been killed."""


class WorkerError(RuntimeError):
    """Workers cannot be started, for a reason that affects every task."""


class Processes:
    """Worker processes, as many as asked for, or one for each core that this process may use.

    A worker that crashes or times out is replaced; processes that it started are killed with it. The time of a task does not
    include the start of a worker.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}")
        self.workers = len(os.sched_getaffinity(0)) if workers is None else workers

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """As `mmau.jobs.task_engines.Engine`.

        Raises:
            WorkerError: workers end before they are ready.
        """
        waiting = deque(tasks)
        pool, began = _Pool(work, limits.task, scratch), time.monotonic()
        try:
            while True:
                if limits.start is not None and time.monotonic() - began >= limits.start:
                    waiting.clear()
                if not waiting and not pool.running:
                    return
                while waiting and len(pool.workers) < min(self.workers, len(waiting) + pool.running):
                    pool.start()
                for worker in pool.idle():
                    if waiting:
                        worker.give(waiting.popleft())
                yield from pool.ended()
        finally:
            pool.stop()


class LastingWorker:
    """One worker process for tasks that arrive one by one; it is replaced when it ends.

    Args:
        work: name of the work function. seconds: limit for each task, None for none. scratch: an empty folder.
    """

    def __init__(self, work: str, seconds: float | None, scratch: Path) -> None:
        self._pool = _Pool(work, seconds, scratch)

    def carry_out(self, task: Task, use: Callable[[Outcome], T], is_wanted: Callable[[], bool]) -> T | None:
        """The result of `use` for the outcome of a task, called while its files exist; None if the task was cancelled.

        Args:
            is_wanted: called twice a second; if it returns False, the task and its processes are ended.

        Raises:
            WorkerError: workers end before they are ready.
        """
        given = False
        while is_wanted():
            if not self._pool.workers:
                self._pool.start()
            for worker in self._pool.idle() if not given else ():
                worker.give(task)
                given = True
            for found in [use(outcome) for outcome in self._pool.ended(0.5)]:
                return found
        self.stop()
        return None

    def stop(self) -> None:
        """End the worker."""
        self._pool.stop()


class _Worker:
    """One worker process and its task.

    Attributes:
        ready: whether it has reported that the work function is loaded. task: the task it executes, None while idle.
        process: the process.
    """

    def __init__(self, work: str, folder: Path) -> None:
        folder.mkdir()
        (folder / "tmp").mkdir()
        self.ready = False
        self.task: Task | None = None
        self._folder, self._given, self._began = folder, 0, 0.0
        command = [sys.executable, "-c", COMMAND, json.dumps(sys.path), work]
        self.process = Worker(command, f"{folder.parent.name}/{folder.name}", {"TMPDIR": str(folder / "tmp")})

    def give(self, task: Task) -> None:
        """Start a task."""
        self.process.clear_log()
        self._given += 1
        self.task, self._began = task, time.monotonic()
        self.process.send({"content": task.content, "folder": str(self._files)})

    def remaining(self, seconds: float | None) -> float | None:
        """The remaining seconds of its task; None without a limit."""
        return None if seconds is None or self.task is None else max(0.0, self._began + seconds - time.monotonic())

    def outcome(self, log: str, status: str, seconds: float | None = None, result: Any = None, message: str = "") -> Outcome:
        """The outcome of its task; the worker is idle afterwards."""
        assert self.task is not None
        task, self.task = self.task, None
        taken = time.monotonic() - self._began if seconds is None else seconds
        return Outcome(task, status, taken, result, message, log, self._files if self._files.is_dir() else None)

    def clear(self) -> None:
        """Remove the files of its last task."""
        shutil.rmtree(self._files, ignore_errors=True)

    def remove(self) -> None:
        """Remove all its files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _files(self) -> Path:
        """The folder of its task's files, another one for each task."""
        return self._folder / f"files-{self._given}"


class _Pool:
    """The workers of one run."""

    def __init__(self, work: str, seconds: float | None, scratch: Path) -> None:
        self.workers: list[_Worker] = []
        self._work, self._seconds, self._scratch = work, seconds, scratch
        self._started = self._failed_starts = 0

    @property
    def running(self) -> int:
        """The number of running tasks."""
        return sum(worker.task is not None for worker in self.workers)

    def idle(self) -> list[_Worker]:
        """The workers that wait for a task."""
        return [worker for worker in self.workers if worker.ready and worker.task is None]

    def start(self) -> None:
        self.workers.append(_Worker(self._work, self._scratch / str(self._started)))
        self._started += 1

    def ended(self, at_most: float | None = None) -> Generator[Outcome, None, None]:
        """Wait for an event of a worker, a time-out or `at_most` seconds, and return the outcomes of ended tasks."""
        limits = [seconds for worker in self.workers if (seconds := worker.remaining(self._seconds)) is not None]
        limits += [] if at_most is None else [at_most]
        with selectors.DefaultSelector() as selector:
            for worker in self.workers:
                selector.register(worker.process, selectors.EVENT_READ, worker)
            answered = [key.data for key, _ in selector.select(min(limits, default=None))]
        overdue = [worker for worker in self.workers if worker not in answered and worker.remaining(self._seconds) == 0]
        for worker in answered:
            yield from self._answered(worker)
        for worker in overdue:
            yield from self._replace(worker, TIMED_OUT, f"did not end within {self._seconds:g} s")

    def stop(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.process.end()
        for worker in self.workers:
            worker.remove()
        self.workers.clear()

    def _answered(self, worker: _Worker) -> Generator[Outcome, None, None]:
        try:
            events = worker.process.receive()
        except EOFError:
            yield from self._replace(worker, CRASHED, None)
            return
        for event in events:
            if event.pop("event") == READY:
                worker.ready, self._failed_starts = True, 0
            else:
                yield worker.outcome(worker.process.log(), **event)
                worker.clear()

    def _replace(self, worker: _Worker, status: str, message: str | None) -> Generator[Outcome, None, None]:
        """End a worker; the outcome of its task, if it had one."""
        ended = worker.process.end()
        how = ending("its process", ended.status)
        self.workers.remove(worker)
        try:
            if worker.task is not None:
                yield worker.outcome(ended.log, status, message=message or how)
            elif not worker.ready:
                self._count_failed_start(how, ended.log)
        finally:
            worker.remove()

    def _count_failed_start(self, how: str, log: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= MOST_FAILED_STARTS:
            raise WorkerError(f"no worker could be started: {how}: {last_line(log)}")
