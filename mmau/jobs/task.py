"""Tasks, their outcomes, the engines that execute them, and work functions, which are passed by name."""

import hashlib
import json
import sys
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from golden.text import canonical

DONE, FAILED, CRASHED, TIMED_OUT = STATUSES = ("done", "failed", "crashed", "timed out")
"""The statuses: a task has a result; its work raised an exception; its process ended; it did not end in time."""

Work = Callable[[dict[str, Any], Path], Any]
"""A work function: takes the content of a task and an empty folder for files, returns JSON; found by name in its module."""

LONGEST = 10**7
"""Longest limit (seconds): a third of a year."""

LINES_OF_MESSAGE = 20
"""Lines of a message that a record keeps; the log has all lines."""


@dataclass(frozen=True)
class Task:
    """A piece of work, as data.

    Attributes:
        name: shown in messages; not part of the key.
        content: the argument of the work function; it determines the result.
        depends: other data that determine the result: digests of sources, versions of programs.

    Raises:
        ValueError: content or depends is no plain JSON.
    """

    name: str
    content: Mapping[str, Any]
    depends: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in (("content", self.content), ("depends", self.depends)):
            try:
                plain = json.loads(canonical(value))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{key} of task {self.name} must be plain JSON: {error}") from error
            if not isinstance(plain, dict):
                raise ValueError(f"{key} of task {self.name} must be a table, got {value!r}")
            object.__setattr__(self, key, plain)

    @cached_property
    def key(self) -> str:
        """SHA-256 of content and depends, in hexadecimal."""
        return hashlib.sha256(canonical({"content": self.content, "depends": self.depends})).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task, as an engine returns it.

    Attributes:
        task: the task.
        status: one of `STATUSES`.
        seconds: its wall time.
        result: the result of the work function, JSON; None unless done.
        message: the reason why it is not done, one line; empty if it is done.
        log: the end of the output of the task and its programs on stdout and stderr.
        folder: the folder of the files that it wrote, which may be moved away; None without files.
    """

    task: Task
    status: str
    seconds: float
    result: Any = None
    message: str = ""
    log: str = ""
    folder: Path | None = None


@dataclass(frozen=True)
class Limits:
    """Time limits (seconds, wall time); None: no limit.

    Attributes:
        task: for one task. start: the time after which a run starts no more tasks.
    """

    task: float | None = None
    start: float | None = None

    def __post_init__(self) -> None:
        if self.task is not None and not 0 < self.task <= LONGEST:
            raise ValueError(f"seconds of a task must be above 0 and at most {LONGEST}, got {self.task}")
        if self.start is not None and not 0 <= self.start <= LONGEST:
            raise ValueError(f"seconds in which tasks start must be from 0 to {LONGEST}, got {self.start}")


class Engine(Protocol):
    """Executes tasks, in processes of this machine or elsewhere; names, JSON and files are exchanged."""

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """The outcome of each task that is started, once, in the order in which they end.

        Every started task has an outcome, and a failing one does not stop the others. Closing the generator early ends
        everything that it started.

        Args:
            work: name of the work function, `module:function`.
            scratch: an empty folder for everything temporary.
        """


def carry_out(work: Work, content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Carry out one task. Returns its status, its time (s), and its result or a message; a traceback goes to stderr."""
    started = time.monotonic()
    try:
        result = work(content, folder)
        try:
            canonical(result)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the work function must return plain JSON: {error}") from error
        answer = {"status": DONE, "result": result}
    except Exception as error:
        traceback.print_exc()
        answer = {"status": FAILED, "message": _message_of(error)}
    return answer | {"seconds": time.monotonic() - started}


def _message_of(error: Exception) -> str:
    """The type and the message of an exception; some messages are incomprehensible without the type."""
    lines = str(error).strip().splitlines()[:LINES_OF_MESSAGE]
    return "\n".join([f"{type(error).__name__}: {lines[0]}", *lines[1:]]) if lines else type(error).__name__


def name_of(work: Work) -> str:
    """The name `module:function` by which another process finds a work function.

    Raises:
        ValueError: it cannot be found by name.
    """
    module: str = work.__module__
    if module == "__main__":
        spec = getattr(sys.modules["__main__"], "__spec__", None)
        module = spec.name if spec is not None else module
    qualified = getattr(work, "__qualname__", "")
    if module == "__main__" or not qualified.isidentifier():
        raise ValueError(f"a work function must be at the top of a module that can be imported, got {work!r}")
    return f"{module}:{qualified}"


def work_of(name: str) -> Work:
    """The function that `name_of` names."""
    module, _, function = name.partition(":")
    work: Work = getattr(import_module(module), function)
    return work
