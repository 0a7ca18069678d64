"""Reading and writing of arrays in .npz files, without pickle; headers are checked before data are read."""

import io
import lzma
import os
import stat
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.checks import listed

MAX_ARRAY_BYTES = 1 << 32
"""Upper limit of the total size of the arrays read from one file (bytes); a compressed file can claim any size."""

_MAX_HEADER = 10_000  # bytes of a .npy header: NumPy's own limit
_CHUNK = 1 << 20  # bytes that are decompressed at a time


def npz_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The content of a .npz file with these arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return stream.getvalue()


class ArrayHeader(NamedTuple):
    """The header of an array in a file."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Size of the array's data (bytes)."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def read_npz(
    path: str | Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    check: Callable[[Mapping[str, ArrayHeader]], None] = lambda headers: None,
) -> dict[str, npt.NDArray[Any]]:
    """The named arrays of a .npz file; other arrays are not read. Nothing is ever unpickled.

    Args:
        check: called with the headers of all arrays to be read, before any data; it raises to refuse them.

    Raises:
        OSError: the file cannot be read.
        ValueError: not a file, not a .npz, damaged; an array is missing, repeated, of Python objects, or of another size
            than its data; or the total size exceeds `MAX_ARRAY_BYTES`.
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
"""Exceptions of `zipfile` for damaged files; bzip2 raises OSError."""


def _wanted(path: str | Path, archive: zipfile.ZipFile, required: Sequence[str], optional: Sequence[str]) -> list[str]:
    """The names of the arrays to read, checked to be in the file once."""
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
    """An array's header, checked against the member size in the archive."""
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
        if stream.read(1):  # reading to the end makes zipfile compare the checksum
            raise ValueError(f"array {name} is damaged: its header says {header.size} bytes, more are there")
    try:
        return np.ndarray(header.shape, header.dtype, data.data, order="F" if header.fortran else "C")
    except (ValueError, TypeError, OverflowError) as error:  # an empty array with more or longer axes than NumPy supports
        raise ValueError(f"array {name} is damaged: its shape is {header.shape}: {error}") from error


def _header_text(stream: Any, length_bytes: int) -> io.BytesIO:
    """Read the header. NumPy writes ml_dtypes' e5m2 as the float `f1` but cannot read that, so it is read as raw bytes."""
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
            raise ValueError(f".npy format version {version} is not supported")
        text = _header_text(stream, 2 if version == (1, 0) else 4)
        with warnings.catch_warnings(action="ignore"):  # NumPy warns of headers that Python 2 wrote, but reads them
            header = ArrayHeader(*readers[version](text, max_header_size=_MAX_HEADER))
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError) as error:
        raise ValueError(f"array {name} is damaged: {_first_line(error)}") from error
    if any(isinstance(axis, bool) or axis < 0 for axis in header.shape):
        raise ValueError(f"array {name} is damaged: its shape is {header.shape}")
    return header


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
