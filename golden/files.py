"""Files: TOML in, and writing that leaves either the whole file or none."""

import errno
import io
import os
import secrets
import stat
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MAX_TOML_BYTES = 1 << 20
"""Largest TOML file that is read (bytes); a unit's takes less than a thousand."""

MAX_TOML_DEPTH = 8
"""How deep its tables and arrays may be nested; a unit's are two deep."""

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(path: str | Path) -> bool:
    """Whether `write_output` writes what goes to `path` to stdout: `-` and /dev/stdout do."""
    return str(path) in _STDOUT


def check_output(path: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise where `write_output` would, as far as that can be known before there is something to write.

    Args:
        inputs: files that are read, which the output must not be, under whatever name.

    Raises:
        ValueError: the output is an input. OSError: the folder is missing, or the file is a folder or read-only.
    """
    if is_stdout(path):
        return
    status = _status(Path(path))
    if status is None:
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, f"cannot be written: there is no folder {folder}", str(path))
    for given in inputs:
        is_file = status is not None and stat.S_ISREG(status.st_mode)
        if status is not None and is_file and os.path.exists(given) and os.path.samestat(status, os.stat(given)):
            raise ValueError(f"output {path} must be another file than the input, which is {given}; name another output")


def write_output(path: str | Path, content: bytes | Iterable[bytes], inputs: Iterable[str | Path] = ()) -> None:
    """Write what a command was asked to write: to stdout where `path` is `-`, else as `write_atomically`.

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
    """Write a file, at once or in pieces, by way of a temporary one beside it, so that nothing half-written is ever seen.

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
    """What is there to be written over; None where nothing is."""
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
    temporary = target.with_name(f".mmau-{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb", buffering=0) as stream:
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
    """Bring a folder's entries to the disk: a new name is not there with the file's content alone."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(stream: io.FileIO, content: bytes | Iterable[bytes]) -> None:
    """All of it: an unbuffered write may take less than it is given."""
    for piece in _pieces(content):
        rest = memoryview(piece)
        while rest:
            rest = rest[stream.write(rest) :]


def _pieces(content: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file's table.

    Raises:
        ValueError: not a TOML file, or one larger or nested deeper than is read. OSError: the file cannot be read.
    """
    with open(path, "rb") as stream:
        content = stream.read(MAX_TOML_BYTES + 1)
    if len(content) > MAX_TOML_BYTES:
        raise ValueError(f"{path}: must be a TOML file of at most {MAX_TOML_BYTES} bytes, and is larger")
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error
    level: list[Any] = [table]
    for _ in range(MAX_TOML_DEPTH):
        level = [value for values in level for value in (values.values() if isinstance(values, dict) else values)]
        level = [value for value in level if isinstance(value, (dict, list))]
    if level:
        raise ValueError(f"{path}: must nest tables and arrays at most {MAX_TOML_DEPTH} deep, and nests them deeper")
    return table
