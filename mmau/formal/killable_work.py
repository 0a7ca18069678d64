"""Work in a child process, which sends each finding at once and is killed at a deadline.

Solvers, Yosys and the construction of terms cannot all be interrupted from within. The work therefore gets a process of its
own; the findings that it sent remain when it is killed.
"""

import faulthandler
import json
import selectors
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from golden.files import temporary_folder
from golden.processes import Channel, Worker, ending
from mmau.jobs.task_engines import work_of

COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mmau.formal.killable_work import main; main(sys.argv[2])"
)
"""Python code of the child; its arguments are the module path and the name of the work function."""

GRACE = 0.5
"""Seconds after its limit in which the work may end by itself, before it is killed."""

READY, FOUND, DONE, REFUSED, FAILED = "ready", "found", "done", "refused", "failed"
"""Events: the work function is loaded; a finding; the result; the request is wrong; any other exception."""

Report = Callable[[Mapping[str, Any]], None]
"""Takes a finding of the work: a table of plain JSON."""


class Refused(ValueError):
    """A request that the work cannot carry out, with its reason."""


class Failed(RuntimeError):
    """An error of the work that is no fault of the request."""


@dataclass(frozen=True)
class Seen:
    """The outcome of the work at its end.

    Attributes:
        findings: those that it sent, in order. result: of the work; None if it did not end in time or crashed.
        ending: why there is no result. crashed: whether that is because its process ended by itself.
    """

    findings: list[Mapping[str, Any]] = field(default_factory=list)
    result: Any = None
    ending: str = ""
    crashed: bool = False


def ignored(found: Mapping[str, Any]) -> None:
    """A `Report` for callers that wait for the result."""


def watched(work: str, content: Mapping[str, Any], seconds: float) -> Seen:
    """Call a work function in a child process, and kill the child and its programs `GRACE` after the limit.

    Args:
        work: the name of the function, `module:function`. It takes `content` and a `Report`, and returns plain JSON.
        content: plain JSON. seconds: elapsed, from when the function is imported.

    Raises:
        Refused: the function raised it. ModuleNotFoundError: it needs a package that is not installed.
        Failed: it raised another exception, or could not be imported.
    """
    with temporary_folder("mmau-watched-") as folder:
        command = [sys.executable, "-c", COMMAND, json.dumps(sys.path), work]
        worker = Worker(command, env={"TMPDIR": folder})
        watch = _Watch(worker, content, seconds)
        try:
            seen = watch.seen()
        finally:
            ended = worker.end()
    if seen is not None:
        return seen
    how = ending("its process", ended.status)
    if watch.is_ready:
        return Seen(watch.findings, ending=how, crashed=True)
    raise Failed(f"{how} before it began: {ended.log.strip()}")


class _Watch:
    """The parent's side.

    Attributes:
        findings: those that the work sent. is_ready: whether it has begun.
    """

    def __init__(self, worker: Worker, content: Mapping[str, Any], seconds: float) -> None:
        self._worker, self._content, self._seconds = worker, content, seconds
        self.findings: list[Mapping[str, Any]] = []
        self._end: float | None = None

    @property
    def is_ready(self) -> bool:
        return self._end is not None

    def seen(self) -> Seen | None:
        """The outcome once the work ends or its time is over; None if its process ended by itself."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._worker, selectors.EVENT_READ)
            while True:
                remaining = None if self._end is None else max(0.0, self._end - time.monotonic())
                if not selector.select(remaining):
                    return Seen(self.findings, ending=f"it did not end in {self._seconds:g} s")
                try:
                    events = self._worker.receive()
                except EOFError:
                    return None
                for event in events:
                    seen = self._noted(**event)
                    if seen is not None:
                        return seen

    def _noted(self, event: str, **content: Any) -> Seen | None:
        """The outcome, if an event is the last one."""
        if event == READY:
            self._end = time.monotonic() + self._seconds + GRACE
            self._worker.send(self._content)
        elif event == FOUND:
            self.findings.append(content["found"])
        elif event == DONE:
            return Seen(self.findings, content["result"])
        elif event == REFUSED:
            raise Refused(content["message"])
        elif content["missing"] is not None:
            raise ModuleNotFoundError(content["message"], name=content["missing"])
        else:
            raise Failed(content["message"])
        return None


def main(name: str) -> NoReturn:
    """The child: import the work function, take its content, and report how it ends."""
    channel = Channel()
    faulthandler.enable()
    try:
        work: Callable[[dict[str, Any], Report], Any] = cast(Any, work_of(name))
        channel.send(READY)
        content = channel.receive()
        channel.send(DONE, result=work(content, lambda found: channel.send(FOUND, found=found)))
    except Refused as error:
        channel.send(REFUSED, message=str(error))
    except Exception as error:
        traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__} at {where.filename}:{where.lineno}: {error}"
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        channel.send(FAILED, message=str(error) if missing else message, missing=missing)
    sys.exit()
