"""What carries out tasks: the protocol that `run` needs, and work functions, of which the name alone is handed over."""

import shutil
import sys
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from jobs.task import DONE, FAILED, Outcome, Task, canonical

Work = Callable[[dict[str, Any], Path], Any]
"""A work function: content of a task and an empty folder for files in, JSON out. It is found by its name in its module."""

LONGEST = 10**7
"""Longest limit (seconds): a third of a year."""

LINES_OF_MESSAGE = 20
"""The longest message that is kept whole; the log has all of it."""


@dataclass(frozen=True)
class Limits:
    """How long things may take (seconds, wall time); None: any time.

    Attributes:
        task: one task. start: the run, until no task is started any more.
    """

    task: float | None = None
    start: float | None = None

    def __post_init__(self) -> None:
        if self.task is not None and not 0 < self.task <= LONGEST:
            raise ValueError(f"seconds of a task must be above 0 and at most {LONGEST}, got {self.task}")
        if self.start is not None and not 0 <= self.start <= LONGEST:
            raise ValueError(f"seconds in which tasks start must be from 0 to {LONGEST}, got {self.start}")


class Engine(Protocol):
    """Carries out tasks, in this machine's processes or elsewhere: what passes is names, JSON and files."""

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """The outcome of each task that is started, once, in the order in which they end.

        Whatever a task does, it has an outcome and the others go on. When the generator is closed early, by an exception
        too, nothing that it started is left.

        Args:
            work: name of the work function, `module:function`.
            scratch: an empty folder for everything temporary.
        """


class ThisProcess:
    """Carries out task after task where it is called, as a debugger needs it: none is ended, and a crash ends all."""

    def outcomes(self, work: str, tasks: Sequence[Task], limits: Limits, scratch: Path) -> Generator[Outcome, None, None]:
        """As `Engine`."""
        function, began = work_of(work), time.monotonic()
        for number, task in enumerate(tasks):
            if limits.start is not None and time.monotonic() - began >= limits.start:
                return
            folder = scratch / str(number)
            folder.mkdir()
            yield Outcome(task, **carry_out(function, dict(task.content), folder), folder=folder)
            shutil.rmtree(folder, ignore_errors=True)


def carry_out(work: Work, content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The status of one task, the seconds that it took, and its result or a message; what it raised goes to stderr."""
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
    """What an exception says, after its type, which some need to be understood."""
    lines = str(error).strip().splitlines()[:LINES_OF_MESSAGE]
    return "\n".join([f"{type(error).__name__}: {lines[0]}", *lines[1:]]) if lines else type(error).__name__


def name_of(work: Work) -> str:
    """`module:function`, by which another process finds it.

    Raises:
        ValueError: it cannot be found so.
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
