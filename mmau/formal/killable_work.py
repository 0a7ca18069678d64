"""Work in a child process that is killed at a deadline; the findings that it reported until then remain.

Solvers, Yosys and the construction of terms cannot all be interrupted from within. The work is therefore a task of a worker
process (`mmau.jobs`), which writes each finding into a file at once.
"""

import json
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from golden.files import temporary_folder
from mmau.jobs.processes import TaskWorker, WorkerError
from mmau.jobs.task import CRASHED, DONE, TIMED_OUT, Task, Work

GRACE = 0.5
"""Seconds after its limit in which the work may end by itself, before it is killed."""

FINDINGS = "findings"
"""The file of the findings, a line of JSON each."""

Report = Callable[[Mapping[str, Any]], None]
"""Takes a finding of the work: a table of plain JSON."""


class Refused(ValueError):
    """A request that the work cannot carry out, with its reason."""


class Failed(RuntimeError):
    """The work ended in an error that is no fault of the request."""


@dataclass(frozen=True)
class Seen:
    """The outcome of work that has ended.

    Attributes:
        findings: those that it reported, in order. result: the result of the work; None if it did not end in time or
            crashed.
        ending: why there is no result. crashed: whether that is because its process ended by itself.
    """

    findings: list[Mapping[str, Any]] = field(default_factory=list)
    result: Any = None
    ending: str = ""
    crashed: bool = False


def ignored(found: Mapping[str, Any]) -> None:
    """A `Report` for callers that wait for the result."""


def killable(work: Callable[[dict[str, Any], Report], Any]) -> Work:
    """The work function of a task that calls `work` with the content and a `Report`; the task's result says how it ended."""

    @wraps(work)
    def carried_out(content: dict[str, Any], folder: Path) -> dict[str, Any]:
        with (folder / FINDINGS).open("w", encoding="utf-8") as stream:

            def report(found: Mapping[str, Any]) -> None:
                stream.write(json.dumps(found) + "\n")
                stream.flush()

            try:
                return {"result": work(content, report)}
            except Refused as error:
                return {"refused": str(error)}
            except ModuleNotFoundError as error:
                return {"lacks": error.name, "message": str(error)}
            except Exception as error:
                traceback.print_exc()
                where = traceback.extract_tb(error.__traceback__)[-1]
                return {"failed": f"{type(error).__name__} at {where.filename}:{where.lineno}: {error}"}

    return carried_out


def watched(work: str, content: Mapping[str, Any], seconds: float) -> Seen:
    """Call a work function in a child process, and kill the child and its programs `GRACE` after the limit.

    Args:
        work: the name of a function that is `killable`, `module:function`.
        content: plain JSON. seconds: elapsed, from when the function is imported.

    Raises:
        Refused: the function raised it. ModuleNotFoundError: it needs a package that is not installed.
        Failed: it raised another exception, or could not be imported.
    """
    with temporary_folder("mmau-watched-") as folder, closing(TaskWorker(work, Path(folder))) as worker:
        try:
            outcome = worker.carry_out(Task(work, content), seconds + GRACE)
        except WorkerError as error:
            raise (error.__cause__ if isinstance(error.__cause__, ModuleNotFoundError) else Failed(error)) from None
        assert outcome is not None, "nobody cancels it"
        findings = _findings(outcome.folder)
    if outcome.status == TIMED_OUT:
        return Seen(findings, ending=f"it did not end in {seconds:g} s")
    if outcome.status == CRASHED:
        return Seen(findings, ending=outcome.message, crashed=True)
    if outcome.status != DONE or "failed" in outcome.result:
        raise Failed(outcome.message or outcome.result["failed"])
    if "refused" in outcome.result:
        raise Refused(outcome.result["refused"])
    if "lacks" in outcome.result:
        raise ModuleNotFoundError(outcome.result["message"], name=outcome.result["lacks"])
    return Seen(findings, outcome.result["result"])


def _findings(folder: Path | None) -> list[Mapping[str, Any]]:
    """The findings whose lines are whole."""
    path = None if folder is None else folder / FINDINGS
    if path is None or not path.exists():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines]
