"""Programs run to their end, alone or several at a time; none outlives the call that started it.

Python handles signals in the main thread only. Children are therefore started in other threads, which signals do not
interrupt. If the main thread is interrupted while it waits, it kills all children and their descendants; the threads then
remove their temporary folders and end.
"""

import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any, TypeVar
from weakref import WeakSet

from golden.processes.child import Child, Messages

T = TypeVar("T")

PERIOD = 1.0
"""Seconds between calls of `give_up`."""


class Interrupted(Exception):
    """A child process was ended or not started, because its request was interrupted."""


class Children:
    """The child processes of one request. Stopping it kills them, and no further one starts.

    Args:
        outer: the request that made this one; stopping it stops this one too.
    """

    def __init__(self, outer: "Children | None") -> None:
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._stopped = False
        self._inner: WeakSet[Children] = WeakSet()
        if outer is not None:
            outer._add(self)

    def run(
        self,
        command: Sequence[Any],
        text: str | None,
        timeout: float | None,
        give_up: Callable[[], bool] | None,
        options: dict[str, Any],
    ) -> subprocess.CompletedProcess[str]:
        """Run a program, as `run_tool` does."""
        with self._lock:
            if self._stopped:
                raise Interrupted(f"{command[0]} was not started: interrupted")
            with open(os.devnull) if text is None else _file_with(text) as stdin:
                child = Child(command, stdin=stdin, **{"encoding": "utf-8", "errors": "replace", **options})
            self._running.add(child)
        try:
            stdout, stderr = _awaited(child, timeout, give_up)
        except BaseException:
            child.kill()
            child.process.wait()
            raise
        finally:
            with self._lock:
                self._running.remove(child)
        if child.process.returncode == -signal.SIGKILL:  # whoever killed it, its descendants must end too
            child.kill()
        if self._stopped:
            raise Interrupted(f"{command[0]} was ended: interrupted")
        return subprocess.CompletedProcess(command, child.process.returncode, stdout, stderr)

    def stop(self) -> None:
        """Kill every child and its descendants, those of inner requests too."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                child.kill()
            for inner in self._inner:
                inner.stop()

    def _add(self, inner: "Children") -> None:
        with self._lock:
            self._inner.add(inner)
            if self._stopped:
                inner.stop()


_children: ContextVar[Children | None] = ContextVar("children", default=None)
"""The children of the current thread's request."""


def run_tool(
    command: Sequence[Any],
    *,
    input: str | None = None,
    timeout: float | None = None,
    give_up: Callable[[], bool] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return its status and its output, both streams as text.

    On an interruption or a time-out the program and its descendants are killed.

    Args:
        command: program and arguments.
        input: text for its standard input, none by default.
        timeout: time limit (seconds), None for no limit.
        give_up: called once a second; the program is killed when it returns True.
        options: options of `subprocess.Popen`; by default both output streams are captured, and bytes that are no UTF-8
            are replaced.

    Raises:
        subprocess.TimeoutExpired: it took longer than `timeout`; the exception holds its output.
        OSError: the program cannot be started.
    """
    captured = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}

    def run() -> subprocess.CompletedProcess[str]:
        children = _children.get()
        assert children is not None
        return children.run(command, input, timeout, give_up, captured)

    return supervised(run)


def supervised(function: Callable[[], T]) -> T:
    """Call a function that starts programs and makes temporary folders; on an interruption none of them remains."""
    return function() if _children.get() is not None else in_parallel([function], 1)[0]


def in_parallel(functions: Sequence[Callable[[], T]], jobs: int) -> list[T]:
    """Call several functions as `supervised` does, `jobs` at a time, and return their results in order.

    Raises:
        Exception: the first exception of a function; the others are ended or not started.
    """
    children = Children(_children.get())

    def call(function: Callable[[], T]) -> T:
        _children.set(children)
        return function()

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        try:
            futures = [pool.submit(call, function) for function in functions]
            return [future.result() for future in futures]
        except BaseException:
            children.stop()
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _file_with(text: str) -> Iterator[IO[str]]:
    """An unnamed temporary file with a text, as standard input; `communicate` does not resume writing to a pipe after a
    time-out."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        yield file


def _awaited(child: Child, timeout: float | None, give_up: Callable[[], bool] | None) -> tuple[str, str | None]:
    """Read the output of a child until it ends, or until `give_up` ends it early.

    Raises:
        subprocess.TimeoutExpired: as `run_tool`.
    """
    process, until = child.process, math.inf if timeout is None else time.monotonic() + timeout
    messages = Messages(process)
    period = PERIOD if timeout is not None or give_up is not None else None
    while (remaining := until - time.monotonic()) > 0:
        try:
            stdout, _ = process.communicate(timeout=None if period is None else min(remaining, period))
            messages.wait(period)
        except subprocess.TimeoutExpired:
            if give_up is not None and give_up():
                break
        else:
            return stdout, messages.text()
    child.kill()
    stdout, _ = process.communicate()
    messages.wait(None)
    if timeout is not None and remaining <= 0:
        raise subprocess.TimeoutExpired(process.args, timeout, stdout, messages.text())
    return stdout, messages.text()
