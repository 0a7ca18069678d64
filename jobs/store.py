"""Where results are kept: a folder with one file for each task that has an outcome, safe against an end at any moment.

A result's file is written beside its place and renamed into it, after the files that belong to it, so it is there whole or
not at all. It carries a digest of itself: one that was damaged, or is none of this store's, is set aside, and its task runs
again.
"""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from golden.files import sync_folder, write_atomically
from jobs.leftovers import kill_marked
from jobs.task import DONE, STATUSES, Outcome, Task, canonical

DESCRIPTION = "store.json"
"""The file that says what a folder is a store of."""

TEMPORARY = re.compile(r"\.mmau-.*\.tmp")
"""What a write leaves that was ended in the middle."""

RESULT = re.compile(r"[0-9a-f]{64}\.json")

FREE_BYTES = 1 << 20
"""A disk with less is full: what failed there failed for that reason."""

NO_ROOM = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT))
"""How a program tells that there is no room, which may be free again when it has ended."""


@dataclass(frozen=True)
class Record:
    """What is kept of a task.

    Attributes:
        task: the task, with the name that it had when it ran. status: one of `jobs.task.STATUSES`.
        result: what the work function returned, JSON; None unless done. message: why it is not done, empty where it is.
        seconds: how long it took (wall time).
        folder: where its files are, None where it has none. log: its log, where it is not done and has one.
    """

    task: Task
    status: str
    result: Any
    message: str
    seconds: float
    folder: Path | None
    log: Path | None

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self.status == DONE


class Store:
    """A folder of results of one kind of tasks, open in one process at a time.

    Args:
        folder: where; made if it is not there.
        what: what the tasks are, such as `mutants`.

    Attributes:
        damaged: one message for each file that was set aside.

    Raises:
        ValueError: another process has it open, or the folder is no store, or one of other tasks.
        OSError: it cannot be read or written.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self.folder, self.what = folder, what
        self.damaged: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir() if not TEMPORARY.fullmatch(path.name)}
        if found - {"lock"} and DESCRIPTION not in found:
            raise ValueError(
                f"{folder} is not empty and no store of results: there is no {DESCRIPTION}; name another folder"
            )
        self._lock = self._locked()
        try:
            self._describe()
            for name in ("results", "files", "logs", "damaged"):
                (folder / name).mkdir(exist_ok=True)
            self._end_leftovers()
            self._set_strangers_aside()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let others open it."""
        os.close(self._lock)

    def find(self, task: Task) -> Record | None:
        """What is kept of a task; a damaged file is set aside, and there is nothing then."""
        path = self._result(task)
        try:
            kept = json.loads(path.read_bytes())
            return self._record(task, kept)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, IsADirectoryError) as error:
            self._set_aside(path, str(error))
            return None

    def keep(self, outcome: Outcome) -> Record:
        """Keep an outcome in place of what there was of its task.

        Raises:
            OSError: it cannot be written; what was kept before is still there.
        """
        try:
            return self._keep(outcome)
        except OSError as error:
            what = f"{error.filename or self.folder}: {error.strerror or error}"
            raise OSError(f"{what}; what is done is kept: run this again to go on") from error

    def _keep(self, outcome: Outcome) -> Record:
        task = outcome.task
        log = "" if outcome.status == DONE else outcome.log
        kept = {
            "what": self.what,
            "name": task.name,
            "content": task.content,
            "depends": task.depends,
            "status": outcome.status,
            "result": outcome.result,
            "message": outcome.message,
            "seconds": round(outcome.seconds, 3),
            "log": bool(log),
            "files": self._keep_files(task, outcome.folder),
        }
        if log:
            write_atomically(self._log(task), log.encode())
        kept["digest"] = _digest(kept)
        text = json.dumps(kept, indent=1)
        write_atomically(self._result(task), text.encode() + b"\n", durable=True)
        if not log:
            self._log(task).unlink(missing_ok=True)
        return self._record(task, json.loads(text))

    def check_space(self, outcome: Outcome) -> None:
        """Raise OSError where a task is not done because a disk is full, that of results or that of temporary files."""
        folders = [self.folder, Path(tempfile.gettempdir())]
        full = [str(folder) for folder in folders if shutil.disk_usage(folder).free < FREE_BYTES]
        told = [text for text in NO_ROOM if text in outcome.message or text in outcome.log]
        if outcome.status != DONE and (full or told):
            where = f"the disk of {full[0]} is full" if full else told[0]
            raise OSError(
                f"task {outcome.task.name} {outcome.status}: {where}; "
                "what is done is kept: make room and run this again to go on"
            )

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A new folder for everything temporary. What an ended run has left of it is removed when the store is opened."""
        with tempfile.TemporaryDirectory(prefix=self._scratch_prefix, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    @property
    def _scratch_prefix(self) -> str:
        return f"mmau-jobs-{hashlib.sha256(os.fsencode(self.folder.resolve())).hexdigest()[:16]}-"

    def _result(self, task: Task) -> Path:
        return self.folder / "results" / f"{task.key}.json"

    def _log(self, task: Task) -> Path:
        return self.folder / "logs" / f"{task.key}.txt"

    def _locked(self) -> int:
        """The open lock file. The lock ends with this process, however it ends."""
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace")
            os.close(descriptor)
            raise ValueError(
                f"{self.folder} is in use by process {holder}: wait until it has ended, or name another folder"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return descriptor

    def _describe(self) -> None:
        """Check the description, or write it."""
        path = self.folder / DESCRIPTION
        try:
            what = json.loads(path.read_bytes())["what"]
        except FileNotFoundError:
            what = None
        except (ValueError, KeyError, TypeError, RecursionError) as error:  # each result says itself what it is of
            what = None
            self._set_aside(path, str(error), shutil.copyfile)  # the folder is a store at any moment
        if what is None:
            write_atomically(path, json.dumps({"what": self.what}).encode() + b"\n", durable=True)
        elif what != self.what:
            raise ValueError(f"{self.folder} holds results of {what}, not of {self.what}: name another folder")

    def _end_leftovers(self) -> None:
        """Remove what a run left that was ended at once: processes, their scratch, half-written files."""
        kill_marked(self._scratch_prefix)
        for folder in Path(tempfile.gettempdir()).glob(f"{self._scratch_prefix}*"):
            shutil.rmtree(folder, ignore_errors=True)
        for place in (self.folder, *(self.folder / name for name in ("results", "files", "logs"))):
            for path in [path for path in place.iterdir() if TEMPORARY.fullmatch(path.name)]:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _set_strangers_aside(self) -> None:
        for path in sorted((self.folder / "results").iterdir()):
            if not RESULT.fullmatch(path.name):
                self._set_aside(path, "its name is no key of a task")

    def _set_aside(self, path: Path, why: str, move: Callable[[Path, Path], Any] = os.rename) -> None:
        """Move a file to `damaged`, beside what is there."""
        folder = self.folder / "damaged"
        folder.mkdir(exist_ok=True)
        target = next(free for n in count() if not (free := folder / f"{n}-{path.name}").exists())
        move(path, target)
        self.damaged.append(f"{path} is damaged: {why}; set aside as {target}, and what it held is done again")

    def _record(self, task: Task, kept: Any) -> Record:
        """The record in what a file holds.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged, or of another task.
        """
        if kept["digest"] != _digest({key: value for key, value in kept.items() if key != "digest"}):
            raise ValueError("its digest is of another content")
        if kept["what"] != self.what:
            raise ValueError(f"it is of {kept['what']}, not of {self.what}")
        if Task("", kept["content"], kept["depends"]).key != task.key:
            raise ValueError("its content is another task's")
        if kept["status"] not in STATUSES:
            raise ValueError(f"it has no status {kept['status']}")
        folder = self.folder / "files" / task.key
        if _digests(folder) != kept["files"] and kept["files"]:
            raise ValueError(f"the files in {folder} are other ones")
        named = Task(kept["name"], task.content, task.depends)
        return Record(
            named,
            kept["status"],
            kept["result"],
            kept["message"],
            kept["seconds"],
            folder if kept["files"] else None,
            self._log(task) if kept["log"] else None,
        )

    def _keep_files(self, task: Task, folder: Path | None) -> dict[str, str]:
        """Bring a task's files to their place, whole; their digests by name."""
        if folder is None or not any(path.is_file() for path in folder.rglob("*")):
            return {}
        target = self.folder / "files" / task.key
        temporary = target.with_name(f".mmau-{task.key}.tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.copytree(folder, temporary, symlinks=True)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(temporary, target)
        sync_folder(target.parent)
        return _digests(target)


def _digest(kept: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(kept)).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder, by its path within."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as stream:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
