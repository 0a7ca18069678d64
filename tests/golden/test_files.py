"""Reading and writing .npz: nothing unpickled, nothing trusted, nothing half-written."""

import io
import os
import re
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from golden.files import MAX_ARRAY_BYTES, read_npz, read_toml, write_atomically, write_npz


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
    write_npz(path, {"a": np.asarray(array)})
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


def test_member_that_is_no_array_does_not_count(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        archive.writestr("a", b"text")
    with pytest.raises(ValueError, match=r"must hold the arrays a; a not found$"):
        read_npz(tmp_path / "v.npz", ["a"])


def test_damaged_lzma_stream_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", npy(np.arange(4000)))
    data = bytearray(path.read_bytes())
    data[60:90] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is not a readable \.npz file|is damaged"):
        read_npz(path, ["a"])


def test_output_into_no_folder_is_named(tmp_path: Path) -> None:
    target = tmp_path / "absent" / "d.npz"
    with pytest.raises(FileNotFoundError) as raised:
        write_atomically(target, b"")
    assert raised.value.filename == str(target)
    with pytest.raises(IsADirectoryError) as raised_for_folder:
        write_atomically(tmp_path, b"")
    assert raised_for_folder.value.filename == str(tmp_path)


@pytest.mark.parametrize("text", ["x = " + "[" * 20000, "x = " + "9" * 5000, "x"], ids=["deep", "long", "no TOML"])
def test_hostile_toml_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: not a TOML file: "):
        read_toml(path)


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


def test_objects_are_refused_and_never_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "unpickled"
    array = np.array([Explodes(str(trap))], dtype=object)
    path = npz(tmp_path / "v.npz", a=npy(array, allow_pickle=True))
    with pytest.raises(
        ValueError, match=r"^array a holds Python objects, which are never loaded; save it with a numeric dtype$"
    ):
        read_npz(path, ["a"])
    assert not trap.exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "array a is damaged"),
        (b"not an array", "array a is damaged"),
        (npy(np.arange(100))[:-8], r"array a is damaged: its header says 800 bytes, 792 are there"),
        (npy(np.arange(100)) + b"x", r"array a is damaged: its header says 800 bytes, 801 are there"),
        (
            header_only("(1000000000000, 1000000)"),
            rf"array a must be at most {MAX_ARRAY_BYTES} bytes, its header says 2000000000",
        ),
        (header_only("(-1,)"), "array a is damaged"),
        (header_only("(True,)"), "array a is damaged"),
        (header_only("__import__('os').getpid()"), "array a is damaged"),
        (header_only("(1,)", "no such dtype"), "array a is damaged"),
        (b"\x93NUMPY\x09\x00" + b"\x00" * 64, r"array a is damaged: .*version"),
    ],
    ids=["empty", "text", "short", "long", "huge", "negative", "bool", "code", "dtype", "version"],
)
def test_damaged_or_hostile_members_are_refused(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_npz(npz(tmp_path / "v.npz", a=data), ["a"])


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"PK not really")
    with pytest.raises(ValueError, match=r"is not a readable \.npz file"):
        read_npz(path, ["a"])


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


def test_interrupted_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"before")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"after")
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["out.bin"]
