"""Compiled designs, kept by content: a folder of entries that several processes may use at once.

An entry is a folder named by the hash of all that its files were made of. It appears as a whole, by renaming; its files are
checked by their hashes when they are used; and what is used is a copy, so that an entry may go at any time.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 30
"""Size of all entries together, beyond which the least recently used go: a few hundred designs."""

ABANDONED = 3600.0
"""Seconds after which an entry that is still being written was left by a process that is gone."""

CONTENTS = "contents.json"
"""File names of an entry, each with the SHA-256 of its contents."""

_PART = "part-"


def cache_folder() -> Path:
    """Where the entries are: `mmau/cosim` in XDG_CACHE_HOME, by default ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "mmau" / "cosim"


def content_key(parts: Mapping[str, Any]) -> str:
    """The name of an entry: a hash of plain values that say all that its files depend on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def fetch(key: str, target: Path) -> bool:
    """Put the files of an entry into a folder, where there is a whole one. A damaged one is removed.

    Args:
        target: an existing folder.

    Raises:
        OSError: they cannot be written there, which says nothing against the entry.
    """
    entry = cache_folder() / key
    if not (entry / CONTENTS).exists():
        return False
    try:
        contents: Any = json.loads((entry / CONTENTS).read_bytes())
        if not contents:
            raise ValueError(f"{entry / CONTENTS} names no file")
        found = {_checked_name(name): (entry / name).read_bytes() for name in contents}
        modes = {name: (entry / name).stat().st_mode for name in found}
        for name, content in found.items():
            if hashlib.sha256(content).hexdigest() != contents[name]:
                raise ValueError(f"{entry / name} is not what was stored")
        os.utime(entry / CONTENTS)
    except (OSError, ValueError, TypeError):
        _remove(entry)
        return False
    for name, content in found.items():
        _write(target / name, content, modes[name])
    return True


def store(key: str, files: Iterable[Path]) -> None:
    """Keep files as an entry, unless there is one. Where nothing can be written nothing is kept: the next one compiles."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=_PART, dir=folder))
        try:
            contents = {}
            for file in files:
                shutil.copy2(file, part / file.name)
                contents[file.name] = _hash(part / file.name)
            (part / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")
            part.rename(folder / key)  # fails where another process was first
        finally:
            shutil.rmtree(part, ignore_errors=True)
        _make_room(folder)


def _make_room(folder: Path) -> None:
    """Remove the least recently used entries that are too much, and what other processes left half-written."""
    used: list[tuple[float, int, Path]] = []
    for entry in folder.iterdir():
        try:
            if entry.name.startswith(_PART):
                if time.time() - entry.stat().st_mtime > ABANDONED:
                    shutil.rmtree(entry, ignore_errors=True)
                continue
            size = sum(file.stat().st_size for file in entry.iterdir())
            used.append(((entry / CONTENTS).stat().st_mtime, size, entry))
        except OSError:
            continue  # it has just gone
    total = sum(size for _, size, _ in used)
    for _, size, entry in sorted(used):
        if total <= MAX_BYTES:
            break
        _remove(entry)
        total -= size


def _remove(entry: Path) -> None:
    """Remove an entry; nobody sees half of it."""
    aside = entry.with_name(f"{_PART}{entry.name}-{os.getpid()}")
    with contextlib.suppress(OSError):
        entry.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(file: Path, content: bytes, mode: int) -> None:
    """Write a file; where that fails nothing is left of it, and the error names it."""
    try:
        file.write_bytes(content)
        file.chmod(mode)
    except OSError as error:
        file.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(file)) from error


def _checked_name(name: str) -> str:
    if Path(name).name != name:
        raise ValueError(f"an entry's files have plain names, got {name!r}")
    return name
