"""Reading and writing .npz: nothing unpickled, nothing trusted, nothing half-written."""

import io
import os
import re
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from golden.files import write_atomically
from golden.recordings.npz import MAX_ARRAY_BYTES, ArrayHeader, npz_bytes, read_npz


def npz(path: Path, **members: bytes) -> Path:
    """A .npz made of raw member bytes."""
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def header_only(shape: str, descr: str = "<u2") -> bytes:
    """A .npy whose header claims a shape and dtype, with no data."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.uint16).reshape(3, 4),
        np.asfortranarray(np.arange(12, dtype=np.uint8).reshape(3, 4)),
        np.uint32(7),
        np.zeros((0, 16), np.uint8),
        np.array([1.5, np.nan]),
    ],
    ids=["matrix", "fortran", "scalar", "empty", "floats"],
)
def test_what_is_written_is_read_back(array: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    write_atomically(path, npz_bytes({"a": np.asarray(array)}))
    back = read_npz(path, ["a"])["a"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == np.asarray(array).tobytes()


def test_files_of_numpy_savez_are_read(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez_compressed(path, a=np.arange(5), b=np.ones((2, 2), np.float32), other=np.zeros(3))
    arrays = read_npz(path, ["a", "b"], ["scale_a"])
    assert sorted(arrays) == ["a", "b"]
    np.testing.assert_array_equal(arrays["a"], np.arange(5))


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float4_e2m1fn", "bfloat16"])
def test_arrays_of_ml_dtypes_are_read_as_raw_bytes(name: str, tmp_path: Path) -> None:
    array = np.arange(1, 9).astype(getattr(ml_dtypes, name))
    np.savez(tmp_path / "v.npz", a=array)
    assert read_npz(tmp_path / "v.npz", ["a"])["a"].tobytes() == array.tobytes()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_array_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for value in (1, 2):
            archive.writestr("a.npy", npy(np.array([value])))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} must hold each array once; a is there more than once$"):
        read_npz(path, ["a"])


def zeros(count: int) -> bytes:
    """A member of so many zero bytes, after its header."""
    return header_only(f"({count},)", "|u1") + bytes(count)


def test_headers_of_all_arrays_are_checked_before_any_data_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that claims much: nothing is read, though each array alone would be allowed."""
    monkeypatch.setattr("golden.recordings.npz.MAX_ARRAY_BYTES", 1_500_000)
    path = npz(tmp_path / "v.npz", a=zeros(1_000_000), b=zeros(1_000_000))
    monkeypatch.setattr("golden.recordings.npz._array", lambda *_: pytest.fail("data were read"))
    with pytest.raises(
        ValueError, match=r"^arrays a, b must take at most 1500000 bytes together, their headers say 2000000$"
    ):
        read_npz(path, ["a", "b"])
    seen: dict[str, ArrayHeader] = {}

    def refuse(headers: Mapping[str, ArrayHeader]) -> None:
        seen.update(headers)
        raise TypeError("not these")

    with pytest.raises(TypeError, match=r"^not these$"):
        read_npz(path, ["a"], check=refuse)
    assert seen == {"a": ArrayHeader((1_000_000,), False, np.dtype("u1"))}


@pytest.mark.slow
def test_reading_takes_no_more_memory_than_the_arrays(tmp_path: Path) -> None:
    size = 64 << 20
    path = npz(tmp_path / "v.npz", a=zeros(size))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        read_npz(path, ["a"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size <= peak < size + (8 << 20)


def lying(path: Path, claimed: int) -> Path:
    """The archive's directory claims another size of its only member than there is."""
    data = bytearray(path.read_bytes())
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = claimed.to_bytes(4, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("claimed", [0, 10, 127, 129, 100_000, 0xFFFFFFFE])
def test_directory_that_claims_another_size_is_refused(claimed: int, tmp_path: Path) -> None:
    path = lying(npz(tmp_path / "v.npz", a=zeros(1000)), claimed)
    with pytest.raises(ValueError, match=r"is damaged: |is not a readable \.npz file: "):
        read_npz(path, ["a"])


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_stream_is_refused_with_the_name_of_the_file(compression: int, tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w", compression=compression) as archive:
        archive.writestr("a.npy", npy(np.arange(4000)))
    data = bytearray(path.read_bytes())
    data[40:70] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} is not a readable \.npz file: |is damaged"):
        read_npz(path, ["a"])


def test_missing_array_is_named(tmp_path: Path) -> None:
    path = npz(tmp_path / "v.npz", a=npy(np.zeros(1)))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} must hold the arrays a, b, c; b, c not found$"):
        read_npz(path, ["a", "b", "c"])


class Explodes:
    """Unpickling one of these creates a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


@pytest.mark.attack("inputs without an end, or hostile text")
def test_objects_are_refused_and_never_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "unpickled"
    array = np.array([Explodes(str(trap))], dtype=object)
    path = npz(tmp_path / "v.npz", a=npy(array, allow_pickle=True))
    with pytest.raises(
        ValueError, match=r"^array a holds Python objects, which are never loaded; save it with a numeric dtype$"
    ):
        read_npz(path, ["a"])
    assert not trap.exists()


HOSTILE = {
    "empty": (b"", "array a is damaged"),
    "text": (b"not an array", "array a is damaged"),
    "short": (npy(np.arange(100))[:-8], r"array a is damaged: its header says 800 bytes, 792 are there"),
    "long": (npy(np.arange(100)) + b"x", r"array a is damaged: its header says 800 bytes, 801 are there"),
    "huge": (
        header_only("(1000000000000, 1000000)"),
        rf"^arrays a must take at most {MAX_ARRAY_BYTES} bytes together, their headers say 2000000000000000000$",
    ),
    "no data": (header_only("(4, 2)"), "^array a is damaged: its header says 16 bytes, 0 are there$"),
    "wide": (header_only("(0, 1180591620717411303424)"), "^array a is damaged: its shape is "),
    "deep": (header_only("(" + "1, " * 70 + ")") + b"xx", "^array a is damaged: its shape is "),
    "open": (header_only("(1,"), "^array a is damaged: "),
    "quote": (header_only('("""'), "^array a is damaged: "),
    "nested": (header_only("(" * 300), "^array a is damaged: "),
    "negative": (header_only("(-1,)"), "array a is damaged"),
    "bool": (header_only("(True,)"), "array a is damaged"),
    "code": (header_only("__import__('os').getpid()"), "array a is damaged"),
    "dtype": (header_only("(1,)", "no such dtype"), "array a is damaged"),
    "version": (b"\x93NUMPY\x09\x00" + b"\x00" * 64, r"array a is damaged: .*version"),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.attack("inputs without an end, or hostile text")
def test_damaged_or_hostile_members_are_refused(kind: str, tmp_path: Path) -> None:
    data, message = HOSTILE[kind]
    with pytest.raises(ValueError, match=message):
        read_npz(npz(tmp_path / "v.npz", a=data), ["a"])


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"PK not really")
    with pytest.raises(ValueError, match=r"is not a readable \.npz file"):
        read_npz(path, ["a"])


def test_devices_and_pipes_are_not_searched_for_an_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        message = rf"^{re.escape(str(path))} must be a file; a \.npz file is not read from a device or a pipe$"
        with pytest.raises(ValueError, match=message):
            read_npz(path, ["a"])
    with pytest.raises(IsADirectoryError):
        read_npz(tmp_path, ["a"])


@pytest.mark.parametrize("position", range(0, 700, 7))
def test_flipped_byte_is_refused_or_harmless(position: int, tmp_path: Path) -> None:
    path = npz(tmp_path / "v.npz", a=npy(np.arange(400, dtype=np.uint16)))
    data = bytearray(path.read_bytes())
    data[position % len(data)] ^= 0x55
    path.write_bytes(data)
    try:
        array = read_npz(path, ["a"])["a"]
    except ValueError:
        return
    np.testing.assert_array_equal(array, np.arange(400, dtype=np.uint16))
