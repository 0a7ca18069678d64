"""Files: TOML in, arrays in and out of .npz without pickle, and writing that leaves either the whole file or none."""

import errno
import io
import lzma
import os
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.checks import listed

MAX_ARRAY_BYTES = 1 << 32
"""Largest array that is read from a file (bytes): a compressed file can claim any size."""

_MAX_HEADER = 10_000


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that nothing half-written is ever seen.

    Raises:
        OSError: the folder is missing or not writable.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file to write", str(target))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(target)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_npz(path: str | Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to exactly `path`, atomically. Raises OSError as `write_atomically`."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    write_atomically(path, stream.getvalue())


def read_npz(path: str | Path, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, npt.NDArray[Any]]:
    """The named arrays of a .npz file; others in it are not read. Nothing is ever unpickled.

    Raises:
        OSError: the file cannot be read.
        ValueError: not a .npz, damaged, an array missing, of Python objects, or of a size that its data do not have.
    """
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            stored = [info.filename for info in archive.infolist()]
            names = {name.removesuffix(".npy") for name in stored if name.endswith(".npy")}
            missing = [name for name in required if name not in names]
            if missing:
                raise ValueError(f"{path} must hold the arrays {listed(required)}; {listed(missing)} not found")
            for name in (*required, *(name for name in optional if name in names)):
                arrays[name] = _read_member(archive, name)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is not a readable .npz file: {error}") from error
    return arrays


def _read_member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        shape, fortran, dtype = _read_header(stream, name)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject:
            raise ValueError(f"array {name} holds Python objects, which are never loaded; save it with a numeric dtype")
        if size > MAX_ARRAY_BYTES:
            raise ValueError(f"array {name} must be at most {MAX_ARRAY_BYTES} bytes, its header says {size}")
        data = stream.read(size + 1)
    if len(data) != size:
        raise ValueError(f"array {name} is damaged: its header says {size} bytes, {len(data)} are there")
    flat = np.frombuffer(bytearray(data), dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _header_text(stream: Any, length_bytes: int) -> io.BytesIO:
    """The header. NumPy writes ml_dtypes' e5m2 as the float `f1`, which it does not read: raw bytes then."""
    prefix = stream.read(length_bytes)
    length = int.from_bytes(prefix, "little")
    if length > _MAX_HEADER:
        raise ValueError(f"its header must be at most {_MAX_HEADER} bytes, it says {length}")
    text = stream.read(length).replace(b"'<f1'", b"'|V1'").replace(b"'|f1'", b"'|V1'")
    return io.BytesIO(prefix + text)


def _read_header(stream: Any, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(stream)
        if version not in readers:
            raise ValueError(f".npy format version {version} is not read")
        header = _header_text(stream, 2 if version == (1, 0) else 4)
        shape, fortran, dtype = readers[version](header, max_header_size=_MAX_HEADER)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"array {name} is damaged: {error}") from error
    if any(not isinstance(axis, int) or axis < 0 for axis in shape):
        raise ValueError(f"array {name} is damaged: its shape is {shape}")
    return shape, fortran, dtype


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file's table.

    Raises:
        ValueError: not a TOML file. OSError: the file cannot be read.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error
