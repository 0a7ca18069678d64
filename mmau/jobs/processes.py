"""The engine of one machine: worker processes, each a separate Python that executes tasks one by one."""

import faulthandler
import json
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn
from uuid import uuid4

from golden.processes import Channel, Ended, Worker, ending
from golden.text import last_line
from mmau.jobs.task import CRASHED, FAILED, TIMED_OUT, Limits, Outcome, Task, carry_out, work_of

COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mmau.jobs.processes import serve; serve(sys.argv[2])"
)
"""Python code of a worker; its arguments are the module path and the name of the work function."""

READY, LACKS, ENDED = "ready", "lacks", "ended"
"""Events: the work function is loaded; it needs a package that is not installed; a task has ended."""

MOST_FAILED_STARTS = 3
"""Consecutive workers that end before they are ready, after which the run gives up; a single one may have been killed."""

PERIOD = 0.5
"""Seconds between two questions whether a task is still wanted."""


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
        """The outcome of each task; see `mmau.jobs.task.Engine`. A thread for each worker waits for it.

        Raises:
            WorkerError: workers end before they are ready.
        """
        last_start = math.inf if limits.start is None else time.monotonic() + limits.start
        workers = [TaskWorker(work, scratch) for _ in range(min(self.workers, len(tasks)))]
        idle: SimpleQueue[TaskWorker] = SimpleQueue()
        for worker in workers:
            idle.put(worker)
        is_stopped = threading.Event()

        def outcome_of(task: Task) -> Outcome | None:
            if time.monotonic() >= last_start or is_stopped.is_set():
                return None
            worker = idle.get()
            try:
                return worker.carry_out(task, limits.task, lambda: not is_stopped.is_set())
            finally:
                idle.put(worker)

        pool = ThreadPoolExecutor(max_workers=max(1, len(workers)))
        try:
            for future in as_completed([pool.submit(outcome_of, task) for task in tasks]):
                outcome = future.result()
                if outcome is not None:
                    yield outcome
                    if outcome.folder is not None:
                        shutil.rmtree(outcome.folder, ignore_errors=True)
        finally:
            is_stopped.set()
            pool.shutdown(cancel_futures=True)
            for worker in workers:
                worker.close()


class TaskWorker:
    """A worker process for tasks that arrive one by one; it is started for the first one, and replaced when it ends.

    Args:
        work: name of the work function.
        scratch: folder for its files; its name is part of the mark of its processes.
    """

    def __init__(self, work: str, scratch: Path) -> None:
        self._work, self._scratch, self._temporary = work, scratch, scratch / f"tmp-{uuid4().hex}"
        self._process: Worker | None = None

    def carry_out(self, task: Task, seconds: float | None, is_wanted: Callable[[], bool] = lambda: True) -> Outcome | None:
        """The outcome of a task, whose folder the caller removes; None if the task was not wanted any more.

        Args:
            seconds: limit for the task, None for none.
            is_wanted: asked every `PERIOD`; if it returns False, the task and its processes are ended.

        Raises:
            WorkerError: workers end before they are ready.
        """
        files, limit = self._scratch / uuid4().hex, math.inf if seconds is None else seconds
        try:
            process = self._started(is_wanted)
            process.clear_log()
            process.send({"content": task.content, "folder": str(files)})
            began = time.monotonic()
            try:
                found = _event(process, began + limit, is_wanted) | {"log": process.log()}
                del found["event"]
            except TimeoutError:
                found = {"status": TIMED_OUT, "message": f"did not end within {limit:g} s", "log": self.close().log}
            except EOFError:
                ended = self.close()
                found = {"status": CRASHED, "message": ending("its process", ended.status), "log": ended.log}
        except _Unwanted:
            self.close()
            return None
        except BaseException:
            self.close()
            raise
        taken = {"seconds": time.monotonic() - began, "folder": files if files.is_dir() else None}
        return Outcome(task, **(taken | found))

    def close(self) -> Ended:
        """End the process; the next task gets another one."""
        process, self._process = self._process, None
        ended = Ended(0, "") if process is None else process.end()
        shutil.rmtree(self._temporary, ignore_errors=True)
        return ended

    def _started(self, is_wanted: Callable[[], bool]) -> Worker:
        """The process, once the work function is loaded."""
        if self._process is not None:
            with suppress(TimeoutError):
                try:
                    self._process.receive(0)
                except EOFError:  # something killed it since its last task
                    self.close()
        failed, missing = 0, None
        while self._process is None:
            self._temporary.mkdir(exist_ok=True)
            command = [sys.executable, "-c", COMMAND, json.dumps(sys.path), self._work]
            mark = f"{self._scratch.name}/{self._temporary.name}"
            self._process = Worker(command, mark, {"TMPDIR": str(self._temporary)})
            try:
                while (event := _event(self._process, math.inf, is_wanted))["event"] != READY:
                    missing = ModuleNotFoundError(event["message"], name=event["name"])
            except EOFError:
                ended = self.close()
                failed += 1
                if missing is not None or failed == MOST_FAILED_STARTS:
                    how = f"{ending('its process', ended.status)}: {last_line(ended.log)}"
                    raise WorkerError(f"no worker could be started: {how}") from missing
        return self._process


class _Unwanted(Exception):
    """A task is not wanted any more."""


def _event(process: Worker, until: float, is_wanted: Callable[[], bool]) -> dict[str, Any]:
    """The next event of a worker.

    Raises:
        TimeoutError: it sends none until then, by the clock of `time.monotonic`. EOFError: it has ended.
        _Unwanted: `is_wanted` returns False.
    """
    while is_wanted():
        with suppress(TimeoutError):
            for event in process.receive(min(PERIOD, until - time.monotonic())):
                return event
        if time.monotonic() >= until:
            raise TimeoutError
    raise _Unwanted


def serve(name: str) -> NoReturn:
    """The worker: report that the work function is loaded, then execute tasks one by one."""
    channel = Channel()
    faulthandler.enable()
    try:
        work = work_of(name)
    except ModuleNotFoundError as error:
        channel.send(LACKS, message=str(error), name=error.name)
        raise
    channel.send(READY)
    while True:
        command = channel.receive()
        folder = Path(command["folder"])
        folder.mkdir()
        try:
            answer = carry_out(work, command["content"], folder)
        except SystemExit as error:
            answer = {"status": FAILED, "message": f"it asked to end the process with status {error.code}"}
        sys.stdout.flush()
        channel.send(ENDED, **answer)
