"""The engine of one machine: worker processes, each a Python of its own that carries out task after task."""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from jobs.engine import Limits
from jobs.leftovers import MARK, kill_marked
from jobs.task import CRASHED, TIMED_OUT, Outcome, Task
from jobs.worker import COMMAND

T = TypeVar("T")

LOG_BYTES = 1 << 16
"""The end of a task's log that is kept."""

MOST_FAILED_STARTS = 3
"""Workers in a row that end before they are ready; one that is killed from outside is no reason to give up."""


class WorkerError(RuntimeError):
    """Workers cannot be started, for a reason that every task would meet."""


class Processes:
    """Worker processes, as many as asked for, or one for each core that this process may use.

    A worker that crashes or is out of time is replaced; what it started is killed with it. A task's time does not include
    the start of a worker.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}")
        self.workers = len(os.sched_getaffinity(0)) if workers is None else workers

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """As `jobs.engine.Engine`.

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
    """One worker process for one task after another, for those who have no list of them; replaced where it ends.

    Args:
        work: name of the work function. seconds: limit for each task, None for none. scratch: an empty folder.
    """

    def __init__(self, work: str, seconds: float | None, scratch: Path) -> None:
        self._pool = _Pool(work, seconds, scratch)

    def carry_out(
        self, task: Task, use: Callable[[Outcome], T], is_wanted: Callable[[], bool], every: float = 0.5
    ) -> T | None:
        """What `use` makes of the outcome of a task, while its files are there; None where it is wanted no more.

        Args:
            is_wanted: asked every so many seconds; where it answers False, the task is ended with all that it started.

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
            for found in [use(outcome) for outcome in self._pool.ended(every)]:
                return found
        self.stop()
        return None

    def stop(self) -> None:
        """End it."""
        self._pool.stop()


class _Worker:
    """One worker process and the task that it has.

    Attributes:
        ready: whether it has told that the work function is there. task: what it carries out, None while it is idle.
    """

    def __init__(self, work: str, folder: Path) -> None:
        folder.mkdir()
        (folder / "tmp").mkdir()
        self.ready = False
        self.task: Task | None = None
        self.mark = f"{folder.parent.name}/{folder.name}."
        self._folder, self._log = folder, folder / "log"
        self._given, self._began, self._answer = 0, 0.0, b""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, json.dumps(sys.path), work],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                env=os.environ | {MARK: self.mark, "TMPDIR": str(folder / "tmp")},
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands, self.answers = self._process.stdin, self._process.stdout

    def give(self, task: Task) -> None:
        """Start a task."""
        os.truncate(self._log, 0)
        self._given += 1
        self.task, self._began = task, time.monotonic()
        command = json.dumps({"content": task.content, "folder": str(self._files)}).encode() + b"\n"
        with suppress(BrokenPipeError):  # it has ended, which its answers will tell
            self._commands.write(command)
            self._commands.flush()

    def left(self, seconds: float | None) -> float | None:
        """Seconds that its task has left; None without a limit."""
        return None if seconds is None or self.task is None else max(0.0, self._began + seconds - time.monotonic())

    def read(self) -> dict[str, Any] | None:
        """The next answer, None where it has not come whole.

        Raises:
            EOFError: the process has ended.
        """
        piece = os.read(self.answers.fileno(), 1 << 20)
        if not piece:
            raise EOFError
        self._answer += piece
        if not piece.endswith(b"\n"):
            return None
        answer: dict[str, Any] = json.loads(self._answer)
        self._answer = b""
        return answer

    def outcome(self, status: str, seconds: float | None = None, result: Any = None, message: str = "") -> Outcome:
        """The outcome of its task, which it has no more."""
        assert self.task is not None
        task, self.task = self.task, None
        taken = time.monotonic() - self._began if seconds is None else seconds
        return Outcome(task, status, taken, result, message, self.log(), self._files if self._files.is_dir() else None)

    def clear(self) -> None:
        """Remove what a task left."""
        shutil.rmtree(self._files, ignore_errors=True)

    @property
    def _files(self) -> Path:
        """The folder of its task's files, another one for each task."""
        return self._folder / f"files-{self._given}"

    def log(self) -> str:
        """The end of what it has written."""
        with self._log.open("rb") as stream:
            stream.seek(max(0, self._log.stat().st_size - LOG_BYTES))
            return stream.read(LOG_BYTES).decode(errors="replace")

    def end(self) -> str:
        """Kill it with all that it started; how it had ended where it did so by itself."""
        self._process.kill()
        kill_marked(self.mark)
        code = self._process.wait()
        with suppress(BrokenPipeError):
            self._commands.close()
        self.answers.close()
        return _ending(code)

    def remove(self) -> None:
        """Remove all its files."""
        shutil.rmtree(self._folder, ignore_errors=True)


class _Pool:
    """The workers of one run."""

    def __init__(self, work: str, seconds: float | None, scratch: Path) -> None:
        self.workers: list[_Worker] = []
        self._work, self._seconds, self._scratch = work, seconds, scratch
        self._started = self._failed_starts = 0

    @property
    def running(self) -> int:
        """How many tasks are under way."""
        return sum(worker.task is not None for worker in self.workers)

    def idle(self) -> list[_Worker]:
        """Those that wait for a task."""
        return [worker for worker in self.workers if worker.ready and worker.task is None]

    def start(self) -> None:
        self.workers.append(_Worker(self._work, self._scratch / str(self._started)))
        self._started += 1

    def ended(self, at_most: float | None = None) -> Generator[Outcome, None, None]:
        """Wait until something comes from a worker or is overdue, or so many seconds; the outcomes that there are then."""
        limits = [left for worker in self.workers if (left := worker.left(self._seconds)) is not None]
        limits += [] if at_most is None else [at_most]
        with selectors.DefaultSelector() as selector:
            for worker in self.workers:
                selector.register(worker.answers, selectors.EVENT_READ, worker)
            answered = [key.data for key, _ in selector.select(min(limits, default=None))]
        overdue = [worker for worker in self.workers if worker not in answered and worker.left(self._seconds) == 0]
        for worker in answered:
            yield from self._answered(worker)
        for worker in overdue:
            yield from self._replace(worker, TIMED_OUT, f"did not end within {self._seconds:g} s")

    def stop(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.end()
        for worker in self.workers:
            worker.remove()
        self.workers.clear()

    def _answered(self, worker: _Worker) -> Generator[Outcome, None, None]:
        try:
            answer = worker.read()
        except EOFError:
            yield from self._replace(worker, CRASHED, None)
            return
        if answer is not None and "ready" in answer:
            worker.ready, self._failed_starts = True, 0
        elif answer is not None:
            yield worker.outcome(**answer)
            worker.clear()

    def _replace(self, worker: _Worker, status: str, message: str | None) -> Generator[Outcome, None, None]:
        """End a worker; the outcome of its task, if it had one."""
        ending = worker.end()
        self.workers.remove(worker)
        try:
            if worker.task is not None:
                yield worker.outcome(status, message=message or ending)
            elif not worker.ready:
                self._count_failed_start(worker, ending)
        finally:
            worker.remove()

    def _count_failed_start(self, worker: _Worker, ending: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= MOST_FAILED_STARTS:
            lines = worker.log().strip().splitlines()
            raise WorkerError(f"no worker could be started: {ending}: {lines[-1] if lines else 'no message'}")


def _ending(code: int) -> str:
    if code >= 0:
        return f"its process exited with status {code}"
    note = " (as the system does where memory runs out)" if code == -signal.SIGKILL else ""
    return f"its process was ended by {signal.Signals(-code).name}{note}"
