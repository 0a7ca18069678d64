"""The store of results: a folder with one file for each task that has an outcome, safe against interruption at any moment.

A result file is written under a temporary name and renamed, after the files that belong to it, so it is complete or absent.
It holds a digest of itself: a file that is damaged, or belongs to another store, is set aside, and its task runs again.
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
from golden.processes import kill_marked
from mmau.jobs.provenance import SEAL, seal_of
from mmau.jobs.task import DONE, STATUSES, Outcome, Task

DESCRIPTION = "store.json"
"""The file that names the kind of a store's tasks."""

TEMPORARY = re.compile(r"\.mmau-.*\.tmp")
"""Names of the temporary files of an interrupted write."""

RESULT = re.compile(r"[0-9a-f]{64}\.json")

FREE_BYTES = 1 << 20
"""A disk with less free space counts as full: a task that fails then failed for that reason."""

NO_ROOM = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT))
"""Messages of programs on a full disk; the space may be free again when the program has ended."""


@dataclass(frozen=True)
class Record:
    """The stored record of a task.

    Attributes:
        task: the task, with the name that it had when it ran. status: one of `mmau.jobs.task.STATUSES`.
        result: the result of the work function, JSON; None unless done. message: the reason why it is not done; else empty.
        seconds: wall time of the task. folder: the folder of its files, None without files. log: its log, if it is not
            done and has one.
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
        folder: the folder of the store; created if missing.
        what: the kind of tasks, such as `mutants`.

    Attributes:
        damaged: one message for each file that was set aside.

    Raises:
        ValueError: another process has the store open, or the folder is not a store, or a store of other tasks.
        OSError: it cannot be read or written.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self.folder, self.what = folder, what
        self.damaged: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir() if not TEMPORARY.fullmatch(path.name)}
        if found - {"lock"} and DESCRIPTION not in found:
            raise ValueError(f"{folder} must be empty or a store of results, and has no {DESCRIPTION}; name another folder")
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
        """Release the lock, so that other processes can open the store."""
        os.close(self._lock)

    @property
    def count(self) -> int:
        """How many results are stored, also of tasks that nobody asks for now."""
        return sum(1 for _ in (self.folder / "results").iterdir())

    def find(self, task: Task) -> Record | None:
        """The stored record of a task; None if there is none. A damaged file is set aside."""
        path = self._result(task)
        try:
            stored = json.loads(path.read_bytes())
            return self._record(task, stored)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, IsADirectoryError) as error:
            self._set_aside(path, str(error))
            return None

    def keep(self, outcome: Outcome) -> Record:
        """Store an outcome in place of an earlier one of its task.

        Raises:
            OSError: it cannot be written; an earlier outcome is unchanged.
        """
        try:
            return self._keep(outcome)
        except OSError as error:
            what = f"{error.filename or self.folder}: {error.strerror or error}"
            raise OSError(f"{what}; finished tasks are stored: run this again to resume") from error

    def _keep(self, outcome: Outcome) -> Record:
        task = outcome.task
        log = "" if outcome.status == DONE else outcome.log
        stored = {
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
        stored[SEAL] = seal_of(stored)
        text = json.dumps(stored, indent=1)
        write_atomically(self._result(task), text.encode() + b"\n", durable=True)
        if not log:
            self._log(task).unlink(missing_ok=True)
        return self._record(task, json.loads(text))

    def check_space(self, outcome: Outcome) -> None:
        """Raise OSError where a task is not done because a disk is full, that of results or that of temporary files."""
        folders = [self.folder, Path(tempfile.gettempdir())]
        full = [str(folder) for folder in folders if shutil.disk_usage(folder).free < FREE_BYTES]
        reported = [text for text in NO_ROOM if text in outcome.message or text in outcome.log]
        if outcome.status != DONE and (full or reported):
            where = f"the disk of {full[0]} is full" if full else reported[0]
            raise OSError(
                f"task {outcome.task.name} {outcome.status}: {where}; "
                "finished tasks are stored: free disk space and run this again to resume"
            )

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A new folder for temporary files. The folder of an interrupted run is removed when the store is opened."""
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
        except (ValueError, KeyError, TypeError, RecursionError) as error:  # each result names its kind too
            what = None
            self._set_aside(path, str(error), shutil.copyfile)  # a copy, so that the folder is a store at any moment
        if what is None:
            write_atomically(path, json.dumps({"what": self.what}).encode() + b"\n", durable=True)
        elif what != self.what:
            raise ValueError(f"{self.folder} holds results of {what}, not of {self.what}: name another folder")

    def _end_leftovers(self) -> None:
        """Remove the remains of an interrupted run: processes, their scratch folders, temporary files."""
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
        """Move a file to the folder `damaged`, under a new name."""
        folder = self.folder / "damaged"
        folder.mkdir(exist_ok=True)
        target = next(free for n in count() if not (free := folder / f"{n}-{path.name}").exists())
        move(path, target)
        self.damaged.append(f"{path} is damaged: {why}; it is set aside as {target}, and its task runs again")

    def _record(self, task: Task, stored: Any) -> Record:
        """The record in the content of a file.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged, or of another task.
        """
        if stored[SEAL] != seal_of({key: value for key, value in stored.items() if key != SEAL}):
            raise ValueError("its digest does not match its content")
        if stored["what"] != self.what:
            raise ValueError(f"it is of {stored['what']}, not of {self.what}")
        if Task("", stored["content"], stored["depends"]).key != task.key:
            raise ValueError("its content is another task's")
        if stored["status"] not in STATUSES:
            raise ValueError(f"it has no status {stored['status']}")
        folder = self.folder / "files" / task.key
        if _digests(folder) != stored["files"] and stored["files"]:
            raise ValueError(f"the files in {folder} do not match their digests")
        named = Task(stored["name"], task.content, task.depends)
        return Record(
            named,
            stored["status"],
            stored["result"],
            stored["message"],
            stored["seconds"],
            folder if stored["files"] else None,
            self._log(task) if stored["log"] else None,
        )

    def _keep_files(self, task: Task, folder: Path | None) -> dict[str, str]:
        """Copy a task's files into the store, all or none; return their digests by name."""
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


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder, by its path within."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as stream:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
