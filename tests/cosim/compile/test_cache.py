"""Compiled designs are kept by content: found again, never half, never damaged, never too many."""

import errno
import multiprocessing
import os
from pathlib import Path

import pytest

from cosim.compile import cache
from cosim.compile.cache import CONTENTS, cache_folder, content_key, fetch, store


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF" + bytes(1000))
    path.chmod(0o755)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def test_stored_file_is_found_with_its_mode(program: Path, target: Path) -> None:
    key = content_key({"top": "unit", "arguments": ["-O3"]})
    assert not fetch(key, target)
    store(key, [program])
    assert fetch(key, target)
    assert (target / "program").read_bytes() == program.read_bytes()
    assert os.access(target / "program", os.X_OK)
    assert not fetch(content_key({"top": "unit", "arguments": ["-O2"]}), target)


@pytest.mark.parametrize(
    "damage", ["file cut", "file gone", "contents cut", "contents of another kind", "no contents", "path"]
)
def test_damaged_entry_is_made_anew(damage: str, program: Path, target: Path) -> None:
    store("key", [program])
    entry = cache_folder() / "key"
    match damage:
        case "file cut":
            (entry / "program").write_bytes(b"\x7fELF")
        case "file gone":
            (entry / "program").unlink()
        case "contents cut":
            (entry / CONTENTS).write_text('{"program": "')
        case "contents of another kind":
            (entry / CONTENTS).write_text("[[]]")
        case "no contents":
            (entry / CONTENTS).write_text("{}")
        case "path":
            (entry / CONTENTS).write_text('{"../program": ""}')
    assert not fetch("key", target)
    store("key", [program])
    assert fetch("key", target)
    assert (target / "program").read_bytes() == program.read_bytes()


def test_least_recently_used_entries_go(program: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, key in enumerate(("old", "used", "new")):
        store(key, [program])
        os.utime(cache_folder() / key / CONTENTS, (number, number))
    assert fetch("old", target)
    monkeypatch.setattr(cache, "MAX_BYTES", 2 * 1200)
    store("newest", [program])
    assert sorted(path.name for path in cache_folder().iterdir()) == ["newest", "old"]


def test_what_a_process_left_half_written_goes(program: Path) -> None:
    store("first", [program])
    left, under_way = cache_folder() / "part-left", cache_folder() / "part-under-way"
    left.mkdir()
    under_way.mkdir()
    os.utime(left, (0, 0))
    store("second", [program])
    assert sorted(path.name for path in cache_folder().iterdir()) == ["first", "part-under-way", "second"]


def _write_and_read(folder: str, number: int) -> bool:
    program, target = Path(folder) / "program", Path(folder) / f"target{number}"
    target.mkdir()
    for _ in range(50):
        store("key", [program])
        if not fetch("key", target) or (target / "program").read_bytes() != program.read_bytes():
            return False
    return True


def test_writers_do_not_disturb_each_other(program: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_write_and_read, [(str(program.parent), number) for number in range(2)]) == [True, True]


def test_folder_that_cannot_be_written_is_no_error(
    program: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    store("key", [program])
    assert not fetch("key", target)


def test_full_disk_of_the_run_is_told_and_costs_no_entry(
    program: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written is not damaged: the next run finds it."""
    store("key", [program])

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match=rf"^\[Errno 28\] No space left on device: '{target / 'program'}'$"):
            fetch("key", target)
    assert list(target.iterdir()) == []
    assert fetch("key", target)
    assert (target / "program").read_bytes() == program.read_bytes()


def test_relative_folder_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert cache_folder() == Path.home() / ".cache" / "mmau" / "cosim"
