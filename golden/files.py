"""Files: reading TOML, atomic writing, which leaves either the whole file or none, and locks between processes."""

import errno
import fcntl
import io
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

MAX_TOML_BYTES = 1 << 20
"""Largest size of a TOML file that is read (bytes); a unit file has less than a thousand."""

MAX_TOML_DEPTH = 8
"""Largest nesting depth of the tables and arrays of a TOML file; a unit file has a depth of two."""

LOCKED_WITHIN = 10.0
"""Seconds after which a temporary file is locked by its process, unless that has ended."""

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(path: str | Path) -> bool:
    """Whether `write_output` writes to stdout for this path: `-` or /dev/stdout."""
    return str(path) in _STDOUT


def check_output(path: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise the errors of `write_output` that can be detected before the content exists.

    Args:
        inputs: files that are read; the output must not be one of them under another name.

    Raises:
        ValueError: the output is an input. OSError: its folder is missing or read-only, or it is a folder or read-only.
    """
    if is_stdout(path):
        return
    status = _status(Path(path))
    is_file = status is not None and stat.S_ISREG(status.st_mode)
    folder = os.path.dirname(os.path.realpath(path))
    if status is None and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"cannot be written: there is no folder {folder}", str(path))
    if (status is None or is_file) and not os.access(folder, os.W_OK | os.X_OK):  # a new file takes the old one's place
        raise PermissionError(errno.EACCES, f"cannot be written: folder {folder} is read-only", str(path))
    for given in inputs:
        if status is not None and is_file and os.path.exists(given) and os.path.samestat(status, os.stat(given)):
            raise ValueError(f"output {path} must be another file than the input, which is {given}; name another output")


def write_output(path: str | Path, content: bytes | Iterable[bytes], inputs: Iterable[str | Path] = ()) -> None:
    """Write the output of a command: to stdout if `path` is `-`, else as `write_atomically`.

    Raises:
        ValueError: the output is one of the inputs. OSError: it cannot be written.
    """
    check_output(path, inputs)
    if is_stdout(path):
        sys.stdout.flush()
        for piece in _pieces(content):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    else:
        write_atomically(path, content)


def write_atomically(path: str | Path, content: bytes | Iterable[bytes], durable: bool = False) -> None:
    """Write a file, at once or in pieces, through a temporary file beside it, so that no reader sees a partial file.

    A file that was there keeps its mode, a new one has what the umask leaves; of a symlink the target is written. What is no
    regular file, a device or a FIFO, is written through.

    Args:
        durable: whether the file is on the disk, and not in memory alone, when this returns.

    Raises:
        OSError: the folder is missing or not writable, or the file is a folder or read-only.
    """
    target = Path(path)
    status = _status(target)
    try:
        if status is not None and not stat.S_ISREG(status.st_mode):
            with open(target, "wb", buffering=0) as device:
                _write_all(device, content)
        else:
            mode = None if status is None else stat.S_IMODE(status.st_mode)
            _replace(Path(os.path.realpath(target)), content, mode, durable)
    except OSError as error:
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(target)) from error


def _status(target: Path) -> os.stat_result | None:
    """The status of the existing file at a path; None if there is none."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file to write", str(target))
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):  # to root, every file is writable
        raise PermissionError(errno.EACCES, "is read-only and is left as it is", str(target))
    return status


def _replace(target: Path, content: bytes | Iterable[bytes], mode: int | None, durable: bool) -> None:
    _clear(target.parent)
    temporary = target.with_name(f".mmau-held-{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb", buffering=0) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            _write_all(stream, content)
            if durable:
                os.fsync(stream.fileno())
        os.replace(temporary, target)
        if durable:
            sync_folder(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk; syncing a file does not make its new name durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """A context with a temporary folder, locked by this process. Those whose processes were killed are removed first.

    Args:
        prefix: beginning of its name, `mmau-…-`.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}held-*"):
        if path.is_dir() and _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}held-") as name, held(Path(name)):
        yield name


def _is_abandoned(path: Path) -> bool:
    """Whether the process that made a temporary file or folder, and locked it, has ended."""
    try:
        if time.time() - path.stat().st_mtime < LOCKED_WITHIN:
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # it has just been removed, or is another user's
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


@cache
def _clear(folder: Path) -> None:
    """Remove the temporary files in a folder whose processes were killed, once in a process."""
    for path in folder.glob(".mmau-held-*.tmp"):
        if path.is_file() and _is_abandoned(path):
            path.unlink(missing_ok=True)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """A context that only one process at a time can be in, by a lock on the folder: entering waits until the folder is free.
    The lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """A context in which one run uses a folder alone, by a lock on the file `lock` in it.

    Raises:
        ValueError: another run uses the folder.
        OSError: the lock cannot be written.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(
                f"{folder} is in use by another run: wait until it has ended, or name another folder"
            ) from error
        yield
    finally:
        os.close(descriptor)


def _write_all(stream: io.FileIO, content: bytes | Iterable[bytes]) -> None:
    """Write all of the content; one unbuffered write may accept only a part."""
    for piece in _pieces(content):
        rest = memoryview(piece)
        while rest:
            rest = rest[stream.write(rest) :]


def _pieces(content: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read the table of a TOML file; a byte order mark at its beginning, which some editors write, is passed over.

    Raises:
        ValueError: not a TOML file, or one larger or nested deeper than is read. OSError: the file cannot be read.
    """
    with open(path, "rb") as stream:
        content = stream.read(MAX_TOML_BYTES + 1)
    if len(content) > MAX_TOML_BYTES:
        raise ValueError(f"{path}: must be a TOML file of at most {MAX_TOML_BYTES} bytes, but is larger")
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error
    level: list[Any] = [table]
    for _ in range(MAX_TOML_DEPTH):
        level = [value for values in level for value in (values.values() if isinstance(values, dict) else values)]
        level = [value for value in level if isinstance(value, (dict, list))]
    if level:
        raise ValueError(f"{path}: must nest tables and arrays at most {MAX_TOML_DEPTH} deep, but nests them deeper")
    return table
