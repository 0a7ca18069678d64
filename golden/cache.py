"""A cache of compiled files by content: a folder of entries that several processes may use at once.

An entry is a folder named by the hash of everything that determines its files. It appears atomically, by renaming; its files
are checked by their hashes when they are read; callers get copies, so that an entry can be removed at any time.

The project runs programs from a cache, so nobody else may write to it: a folder that another user owns, can write to or can
replace is not used.
"""

import contextlib
import grp
import hashlib
import json
import logging
import os
import pwd
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ABANDONED = 3600.0
"""Seconds after which an incomplete entry counts as abandoned by a process that has ended."""

CONTENTS = "contents.json"
"""File names of an entry, each with the SHA-256 of its contents."""

MAX_CONTENTS = 1 << 20
"""Largest size of an entry's `contents.json` (bytes); for a hundred files it has about ten thousand."""

TEXT = "text"
"""Name of the file in which an entry of `cached_text` holds its text."""

TEXT_BYTES = 1 << 20
"""Limit of the total size of all cached texts of one kind (bytes)."""

_PART = "part-"


class File(NamedTuple):
    """A file of an entry: its contents and its mode."""

    content: bytes
    mode: int = 0o644


def user_folder(name: str) -> Path:
    """A folder in the user's cache: `mmau/name` in XDG_CACHE_HOME, by default ~/.cache."""
    return _base() / "mmau" / name


def _base() -> Path:
    """The user's cache; for a user without a home, a folder among those for temporary files."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return _temporary()


def _temporary() -> Path:
    return Path(tempfile.gettempdir()) / f"mmau-{os.geteuid()}"


def tool_environment() -> dict[str, str]:
    """The environment of a program that caches machine code in the user's folders, as WebAssembly tools do: that of this
    process, if this user can write to the folders and no other; else with a folder for temporary files in their place."""
    home = os.environ.get("HOME", "")
    if _can_be_used(_base()) and os.access(home, os.W_OK):
        return dict(os.environ)
    instead = {"HOME": str(_temporary()), "XDG_CACHE_HOME": str(_temporary()), "XDG_CONFIG_HOME": str(_temporary())}
    return os.environ | instead if _can_be_used(_temporary()) else dict(os.environ)


def _can_be_used(folder: Path) -> bool:
    """Whether this user can write to a folder and no other can; it is made where it is missing."""
    try:
        _make(folder)
    except OSError:
        return False
    return os.access(folder, os.W_OK) and _is_own(folder)


def content_key(parts: Mapping[str, Any]) -> str:
    """The name of an entry: a hash of plain values that determine its files."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cached_text(name: str, parts: Mapping[str, Any], make: Callable[[], str]) -> str:
    """Return a text that takes long to make, from the user's cache if it is there; else make it and add it.

    Args:
        name: folder of the cache, as for `user_folder`.
        parts: everything that determines the text, as for `content_key`.
        make: function that returns the text.
    """
    texts, key = Cache(user_folder(name), TEXT_BYTES), content_key(parts)
    found = texts.read(key)
    if found is not None and TEXT in found:
        return found[TEXT].content.decode()
    text = make()
    texts.write(key, {TEXT: File(text.encode())})
    return text


@dataclass(frozen=True)
class Cache:
    """A folder of entries, each named by the hash of all that determines its files.

    Attributes:
        folder: path of the cache; it need not exist yet.
        most_bytes: limit of the total size of all entries; the least recently used are removed first. None for no limit.
    """

    folder: Path
    most_bytes: int | None = None

    def read(self, key: str) -> dict[str, File] | None:
        """Return the files of an entry by name, or None if it is missing or damaged; a damaged entry is removed."""
        entry = self.folder / key
        if not (entry / CONTENTS).exists() or not _is_own(self.folder):
            return None
        try:
            for path in (entry, *entry.iterdir()):
                _check_owner(path)
            with (entry / CONTENTS).open("rb") as stream:
                contents: Any = json.loads(stream.read(MAX_CONTENTS))
            if not contents:
                raise ValueError(f"{entry / CONTENTS} names no file")
            found = {_checked_name(name): _read(entry / name) for name in contents}
            for name, file in found.items():
                if hashlib.sha256(file.content).hexdigest() != contents[name]:
                    raise ValueError(f"{entry / name} is not what was stored")
        except (OSError, ValueError, TypeError, RecursionError):
            _remove(entry)
            return None
        with contextlib.suppress(OSError):  # the folder may be read-only
            os.utime(entry / CONTENTS)
        return found

    def write(self, key: str, files: Mapping[str, File]) -> None:
        """Add an entry unless it exists; add nothing if the folder is not writable (the next process compiles again)."""
        with contextlib.suppress(OSError):
            _make(self.folder)
            if not _is_own(self.folder):
                return
            part = Path(tempfile.mkdtemp(prefix=_PART, dir=self.folder))
            try:
                for name, file in files.items():
                    _write(part / _checked_name(name), file._replace(mode=file.mode & ~0o022))
                contents = {name: hashlib.sha256(file.content).hexdigest() for name, file in files.items()}
                (part / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")
                part.rename(self.folder / key)  # fails where another process was first
            finally:
                shutil.rmtree(part, ignore_errors=True)
            self._make_room()

    def fetch(self, key: str, target: Path) -> bool:
        """Copy the files of an entry into an existing folder; return whether the entry is there and undamaged.

        Raises:
            OSError: the files cannot be written to that folder; the entry itself is not at fault.
        """
        found = self.read(key)
        for name, file in (found or {}).items():
            _write(target / name, file)
        return found is not None

    def store(self, key: str, files: Iterable[Path]) -> None:
        """Add an entry with the files at these paths, under their file names."""
        self.write(key, {file.name: _read(file) for file in files})

    def _make_room(self) -> None:
        """Remove the least recently used entries beyond the size limit, and incomplete entries of ended processes."""
        used: list[tuple[float, int, Path]] = []
        for entry in self.folder.iterdir():
            try:
                if entry.name.startswith(_PART):
                    if time.time() - entry.stat().st_mtime > ABANDONED:
                        shutil.rmtree(entry, ignore_errors=True)
                    continue
                size = sum(file.stat().st_size for file in entry.iterdir())
                used.append(((entry / CONTENTS).stat().st_mtime, size, entry))
            except OSError:
                continue  # just removed by another process, or not an entry
        total = sum(size for _, size, _ in used)
        for _, size, entry in sorted(used):
            if self.most_bytes is None or total <= self.most_bytes:
                break
            _remove(entry)
            total -= size


def _make(folder: Path) -> None:
    """Make a folder and the missing ones above it, for this user alone."""
    if not folder.exists():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _is_own(folder: Path) -> bool:
    """Whether nobody else can put files into the folder; if not, a message says so once."""
    try:
        for path in (folder.resolve(), *folder.resolve().parents):
            _check_owner(path)
    except ValueError as error:
        tell_once(f"the cache {folder} is not used: {error}; name another folder, or change its mode")
        return False
    return True


def _check_owner(path: Path) -> None:
    """Raise ValueError where another user, or a group other than the user's own, can write a file or replace it."""
    status = path.lstat()
    if status.st_uid not in (0, os.geteuid()):
        raise ValueError(f"{path} belongs to user {status.st_uid}")
    if stat.S_ISLNK(status.st_mode):
        raise ValueError(f"{path} is a symbolic link")
    shared = status.st_mode & (stat.S_IWOTH if _is_private(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP)
    if shared and not status.st_mode & stat.S_ISVTX:  # in a folder like /tmp, everybody has files that others cannot replace
        raise ValueError(f"others may write to {path}, whose mode is {stat.S_IMODE(status.st_mode):o}")


@cache
def _is_private(group: int) -> bool:
    """Whether a group is this user's primary one and has the user's name, as systems with a group for each user have it."""
    try:
        user, named = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and named.gr_name == user.pw_name and set(named.gr_mem) <= {user.pw_name}


@cache
def tell_once(message: str) -> None:
    logging.getLogger(__name__).warning(message)


def _remove(entry: Path) -> None:
    """Remove an entry atomically, by renaming it first."""
    aside = entry.with_name(f"{_PART}{entry.name}-{os.getpid()}")
    with contextlib.suppress(OSError):
        entry.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _read(path: Path) -> File:
    return File(path.read_bytes(), path.stat().st_mode)


def _write(path: Path, file: File) -> None:
    """Write a file; on failure remove it, and raise an error that names it."""
    try:
        path.write_bytes(file.content)
        path.chmod(file.mode)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _checked_name(name: str) -> str:
    if Path(name).name != name:
        raise ValueError(f"the files of an entry must have plain names, got {name!r}")
    return name
