"""Writing files: nothing half-written, modes and links respected, devices written through."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from golden import files
from golden.files import check_output, write_atomically, write_output


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder, under the usual umask."""
    before = os.umask(0o022)
    yield tmp_path
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_umask_is_respected(umask: int, expected: int, folder: Path) -> None:
    os.umask(umask)
    write_atomically(folder / "d", b"x")
    assert mode(folder / "d") == expected


def test_file_that_was_there_keeps_its_mode(folder: Path) -> None:
    (folder / "d").write_bytes(b"before")
    (folder / "d").chmod(0o640)
    write_atomically(folder / "d", b"after")
    assert ((folder / "d").read_bytes(), mode(folder / "d")) == (b"after", 0o640)


def test_read_only_file_is_left_as_it_is(folder: Path) -> None:
    (folder / "d").write_bytes(b"before")
    (folder / "d").chmod(0o444)
    for refused in (write_atomically, write_output, lambda path, _: check_output(path)):
        with pytest.raises(PermissionError, match=r"^\[Errno 13\] is read-only and is left as it is: "):
            refused(folder / "d", b"after")
    assert (folder / "d").read_bytes() == b"before"


@pytest.mark.parametrize("was_there", [False, True])
def test_read_only_folder_is_refused_before_there_is_a_content(
    was_there: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root writes everywhere, so that the folder is read-only by word of the system alone."""
    if was_there:
        (folder / "d").write_bytes(b"before")
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != folder)
    with pytest.raises(PermissionError, match=rf"^\[Errno 13\] cannot be written: folder {folder} is read-only: "):
        check_output(folder / "d")
    check_output("/dev/null")
    assert [path.read_bytes() for path in folder.iterdir()] == [b"before"] * was_there


def test_target_of_a_symlink_is_written(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "target").write_bytes(b"before")
    (folder / "link").symlink_to("sub/target")
    (folder / "chain").symlink_to("link")
    write_atomically(folder / "chain", b"after")
    assert (folder / "link").is_symlink()
    assert (folder / "chain").is_symlink()
    assert (folder / "sub" / "target").read_bytes() == b"after"
    (folder / "dangling").symlink_to("sub/new")
    write_atomically(folder / "dangling", b"new")
    assert (folder / "sub" / "new").read_bytes() == b"new"
    assert sorted(path.name for path in (folder / "sub").iterdir()) == ["new", "target"]


def test_symlink_that_leads_nowhere_is_refused(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    (folder / "lost").symlink_to("absent/file")
    for name in ("loop", "lost"):
        for refused in (write_atomically, write_output, lambda path, _: check_output(path)):
            with pytest.raises(OSError, match=name) as raised:
                refused(folder / name, b"x")
            assert raised.value.filename == str(folder / name)
    assert sorted(path.name for path in folder.iterdir()) == ["loop", "lost"]


def test_fifo_is_written_through(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    content = bytes(range(256)) * 1000  # more than a pipe holds
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit((folder / "pipe").read_bytes)
        write_output(folder / "pipe", content)
        assert got.result(timeout=30) == content
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


def test_devices_are_written_through(folder: Path) -> None:
    (folder / "null").symlink_to("/dev/null")
    write_output(folder / "null", b"gone")
    assert stat.S_ISCHR((folder / "null").stat().st_mode)
    with pytest.raises(OSError, match=r"^\[Errno 28\] cannot be written: No space left on device: '/dev/full'$"):
        write_output("/dev/full", b"x")


def test_long_names_are_written(folder: Path) -> None:
    write_atomically(folder / ("x" * 255), b"x")
    with pytest.raises(OSError, match=r"File name too long"):
        write_atomically(folder / ("x" * 256), b"x")


def test_output_into_no_folder_is_named(tmp_path: Path) -> None:
    target = tmp_path / "absent" / "d.npz"
    with pytest.raises(FileNotFoundError) as raised:
        write_atomically(target, b"")
    assert raised.value.filename == str(target)
    with pytest.raises(IsADirectoryError) as raised_for_folder:
        write_atomically(tmp_path, b"")
    assert raised_for_folder.value.filename == str(tmp_path)


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


@pytest.mark.attack("files of killed processes")
def test_what_a_killed_process_left_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its locks have ended with it; what another process holds, or has just made, stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, held, new = (tmp_path / f".mmau-held-{name}.tmp" for name in ("left", "held", "new"))
    left_folder, held_folder, other = (tmp_path / f"mmau-x-{name}" for name in ("held-left", "held-held", "other"))
    for path in (left, held, new):
        path.touch()
    for path in (left_folder, held_folder, other):
        path.mkdir()
    for path in tmp_path.iterdir():
        if path != new:
            os.utime(path, (0, 0))
    with held.open() as stream, files.held(held_folder):
        fcntl.flock(stream, fcntl.LOCK_EX)
        write_atomically(tmp_path / "written", b"")
        with files.temporary_folder("mmau-x-") as name:
            assert Path(name).is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {
        "written",
        *(path.name for path in (held, new, held_folder, other)),
    }
