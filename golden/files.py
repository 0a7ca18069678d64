"""Files: TOML in, arrays in and out of .npz without pickle, and writing that leaves either the whole file or none."""

import errno
import io
import lzma
import os
import secrets
import stat
import struct
import sys
import tokenize
import tomllib
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.checks import listed

MAX_ARRAY_BYTES = 1 << 32
"""Most that the arrays read from one file take together (bytes): a compressed file can claim any size."""

MAX_TOML_BYTES = 1 << 20
"""Largest TOML file that is read (bytes); a unit's takes less than a thousand."""

MAX_TOML_DEPTH = 8
"""How deep its tables and arrays may be nested; a unit's are two deep."""

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

_MAX_HEADER = 10_000  # bytes of a .npy header: NumPy's own limit
_CHUNK = 1 << 20  # bytes that are decompressed at a time


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


def npz_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The content of a .npz file with these arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return stream.getvalue()


class ArrayHeader(NamedTuple):
    """What the header of an array in a file says."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of its data."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def read_npz(
    path: str | Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    check: Callable[[Mapping[str, ArrayHeader]], None] = lambda headers: None,
) -> dict[str, npt.NDArray[Any]]:
    """The named arrays of a .npz file; others in it are not read. Nothing is ever unpickled.

    Args:
        check: called with the headers of all arrays that will be read, before the data of any; raises what it refuses.

    Raises:
        OSError: the file cannot be read.
        ValueError: not a file, not a .npz, damaged, an array missing, there twice, of Python objects, of a size that its
            data do not have, or all together above `MAX_ARRAY_BYTES`.
    """
    kind = os.stat(path).st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # zipfile would look for the end of /dev/zero
        raise ValueError(f"{path} must be a file; a .npz file is not read from a device or a pipe")
    try:
        with zipfile.ZipFile(path) as archive:
            names = _wanted(path, archive, required, optional)
            headers = {name: _header(archive, name) for name in names}
            total = sum(header.size for header in headers.values())
            if total > MAX_ARRAY_BYTES:
                raise ValueError(
                    f"arrays {listed(names)} must take at most {MAX_ARRAY_BYTES} bytes together, their headers say {total}"
                )
            check(headers)
            return {name: _array(archive, name, header) for name, header in headers.items()}
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.filename is not None:  # the file itself
            raise
        raise ValueError(f"{path} is not a readable .npz file: {str(error) or type(error).__name__}") from error


_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, NotImplementedError, RuntimeError, struct.error,
    OverflowError, UnicodeDecodeError,
)  # fmt: skip
"""What `zipfile` raises for one damaged file or another; bzip2 says OSError."""


def _wanted(path: str | Path, archive: zipfile.ZipFile, required: Sequence[str], optional: Sequence[str]) -> list[str]:
    """The arrays to read, each in the file once."""
    stored = Counter(info.filename for info in archive.infolist())
    missing = [name for name in required if f"{name}.npy" not in stored]
    if missing:
        raise ValueError(f"{path} must hold the arrays {listed(required)}; {listed(missing)} not found")
    names = [name for name in (*required, *optional) if f"{name}.npy" in stored]
    twice = [name for name in names if stored[f"{name}.npy"] > 1]
    if twice:
        raise ValueError(f"{path} must hold each array once; {listed(twice)} is there more than once")
    return names


def _header(archive: zipfile.ZipFile, name: str) -> ArrayHeader:
    """An array's header, checked against the size that the archive says its member has."""
    member = f"{name}.npy"
    with archive.open(member) as stream:
        header = _read_header(stream, name)
        found = archive.getinfo(member).file_size - stream.tell()
    if header.dtype.hasobject:
        raise ValueError(f"array {name} holds Python objects, which are never loaded; save it with a numeric dtype")
    if header.size <= MAX_ARRAY_BYTES and header.size != found:
        raise ValueError(f"array {name} is damaged: its header says {header.size} bytes, {found} are there")
    return header


def _array(archive: zipfile.ZipFile, name: str, header: ArrayHeader) -> npt.NDArray[Any]:
    data = np.empty(header.size, np.uint8)
    with archive.open(f"{name}.npy") as stream:
        _read_header(stream, name)
        for begin in range(0, data.size, _CHUNK):
            chunk = data[begin : begin + _CHUNK]
            piece = stream.read(chunk.size)
            if len(piece) != chunk.size:
                found = begin + len(piece)
                raise ValueError(f"array {name} is damaged: its header says {header.size} bytes, {found} are there")
            chunk[:] = np.frombuffer(piece, np.uint8)
        if stream.read(1):  # reads on to the end, where the checksum is compared
            raise ValueError(f"array {name} is damaged: its header says {header.size} bytes, more are there")
    try:
        return np.ndarray(header.shape, header.dtype, data.data, order="F" if header.fortran else "C")
    except (ValueError, TypeError, OverflowError) as error:  # more axes than NumPy has, or longer ones, but no elements
        raise ValueError(f"array {name} is damaged: its shape is {header.shape}: {error}") from error


def _header_text(stream: Any, length_bytes: int) -> io.BytesIO:
    """The header. NumPy writes ml_dtypes' e5m2 as the float `f1`, which it does not read: raw bytes then."""
    prefix = stream.read(length_bytes)
    length = int.from_bytes(prefix, "little")
    if length > _MAX_HEADER:
        raise ValueError(f"its header must be at most {_MAX_HEADER} bytes, it says {length}")
    text = stream.read(length).replace(b"'<f1'", b"'|V1'").replace(b"'|f1'", b"'|V1'")
    return io.BytesIO(prefix + text)


def _read_header(stream: Any, name: str) -> ArrayHeader:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(stream)
        if version not in readers:
            raise ValueError(f".npy format version {version} is not read")
        text = _header_text(stream, 2 if version == (1, 0) else 4)
        with warnings.catch_warnings(action="ignore"):  # of a header as Python 2 wrote it, which is read nevertheless
            header = ArrayHeader(*readers[version](text, max_header_size=_MAX_HEADER))
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError) as error:
        raise ValueError(f"array {name} is damaged: {_first_line(error)}") from error
    if any(isinstance(axis, bool) or axis < 0 for axis in header.shape):
        raise ValueError(f"array {name} is damaged: its shape is {header.shape}")
    return header


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


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
