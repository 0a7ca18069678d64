"""Compiled files are cached by content: found again, never half, never damaged, never too many."""

import errno
import multiprocessing
import os
from pathlib import Path

import pytest

from golden.cache import CONTENTS, Cache, File, content_key, tool_environment, user_folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


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


def test_stored_file_is_found_with_its_mode(cache: Cache, program: Path, target: Path) -> None:
    key = content_key({"top": "unit", "arguments": ["-O3"]})
    assert not cache.fetch(key, target)
    cache.store(key, [program])
    assert cache.fetch(key, target)
    assert (target / "program").read_bytes() == program.read_bytes()
    assert os.access(target / "program", os.X_OK)
    assert not cache.fetch(content_key({"top": "unit", "arguments": ["-O2"]}), target)


@pytest.mark.parametrize(
    "damage",
    ["file cut", "file gone", "contents cut", "contents of another kind", "contents nested deep", "no contents", "path"],
)
@pytest.mark.attack("programs in a cache, damaged or planted")
def test_damaged_entry_is_made_anew(damage: str, cache: Cache, program: Path, target: Path) -> None:
    cache.store("key", [program])
    entry = cache.folder / "key"
    match damage:
        case "file cut":
            (entry / "program").write_bytes(b"\x7fELF")
        case "file gone":
            (entry / "program").unlink()
        case "contents cut":
            (entry / CONTENTS).write_text('{"program": "')
        case "contents of another kind":
            (entry / CONTENTS).write_text("[[]]")
        case "contents nested deep":
            (entry / CONTENTS).write_text("[" * 100_000)
        case "no contents":
            (entry / CONTENTS).write_text("{}")
        case "path":
            (entry / CONTENTS).write_text('{"../program": ""}')
    assert not cache.fetch("key", target)
    cache.store("key", [program])
    assert cache.fetch("key", target)
    assert (target / "program").read_bytes() == program.read_bytes()


PLANTED = ["folder of all", "above of all", "entry of all", "file of all", "another's folder", "another's file", "link"]


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.attack("programs in a cache, damaged or planted")
def test_what_another_user_can_write_is_not_used(
    planted: str, cache: Cache, program: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write to the cache could plant a program that this user runs."""
    cache.folder.mkdir()
    cache.store("key", [program])
    assert cache.fetch("key", target)
    entry = cache.folder / "key"
    match planted:
        case "folder of all":
            cache.folder.chmod(0o777)
        case "above of all":
            cache.folder.parent.chmod(0o777)
        case "entry of all":
            entry.chmod(0o777)
        case "file of all":
            (entry / "program").chmod(0o777)
        case "another's folder" | "another's file":
            owned = str(cache.folder if "folder" in planted else entry / "program")
            monkeypatch.setattr("golden.cache.Path.lstat", lambda path: _of_another(path, owned))
        case "link":
            (entry / "program").rename(cache.folder.parent / "elsewhere")
            (entry / "program").symlink_to(cache.folder.parent / "elsewhere")
    assert cache.read("key") is None


def _of_another(path: Path, owned: str) -> os.stat_result:
    status = list(os.lstat(path))
    return os.stat_result([*status[:4], 4711 if str(path) == owned else status[4], *status[5:]])


@pytest.mark.attack("programs in a cache, damaged or planted")
def test_unsafe_folder_is_told_and_gets_nothing(
    cache: Cache, program: Path, target: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.folder.mkdir()
    cache.folder.chmod(0o777)
    cache.store("key", [program])
    assert list(cache.folder.iterdir()) == []
    why = f"others may write to {cache.folder}, whose mode is 777; name another folder, or change its mode"
    assert caplog.messages == [f"the cache {cache.folder} is not used: {why}"]


def test_folder_in_a_sticky_one_is_used(cache: Cache, program: Path, target: Path) -> None:
    cache.folder.parent.chmod(0o1777)
    cache.store("key", [program])
    assert cache.fetch("key", target)
    assert cache.folder.stat().st_mode & 0o777 == 0o700


def test_least_recently_used_entries_go(cache: Cache, program: Path, target: Path) -> None:
    for number, key in enumerate(("old", "used", "new")):
        cache.store(key, [program])
        os.utime(cache.folder / key / CONTENTS, (number, number))
    assert cache.fetch("old", target)
    Cache(cache.folder, 2 * 1200).store("newest", [program])
    assert sorted(path.name for path in cache.folder.iterdir()) == ["newest", "old"]


def test_what_a_process_left_half_written_goes(cache: Cache, program: Path) -> None:
    cache.store("first", [program])
    left, under_way = cache.folder / "part-left", cache.folder / "part-under-way"
    left.mkdir()
    under_way.mkdir()
    os.utime(left, (0, 0))
    cache.store("second", [program])
    assert sorted(path.name for path in cache.folder.iterdir()) == ["first", "part-under-way", "second"]


def _write_and_read(folder: str, number: int) -> bool:
    cache, program, target = Cache(Path(folder) / "cache"), Path(folder) / "program", Path(folder) / f"target{number}"
    target.mkdir()
    for _ in range(50):
        cache.store("key", [program])
        if not cache.fetch("key", target) or (target / "program").read_bytes() != program.read_bytes():
            return False
    return True


@pytest.mark.slow
def test_writers_do_not_disturb_each_other(cache: Cache, program: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_write_and_read, [(str(program.parent), number) for number in range(2)]) == [True, True]


def test_folder_that_cannot_be_written_is_no_error(program: Path, target: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.store("key", [program])
    assert not cache.fetch("key", target)


def test_full_disk_of_the_run_is_reported_and_costs_no_entry(
    cache: Cache, program: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written is not damaged: the next run finds it."""
    cache.store("key", [program])

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match=rf"^\[Errno 28\] No space left on device: '{target / 'program'}'$"):
            cache.fetch("key", target)
    assert list(target.iterdir()) == []
    assert cache.fetch("key", target)
    assert (target / "program").read_bytes() == program.read_bytes()


def test_contents_without_files_are_recorded(cache: Cache) -> None:
    assert cache.read("key") is None
    cache.write("key", {"a": File(b"x"), "b": File(b"", 0o755)})
    found = cache.read("key")
    assert found is not None
    assert {name: (file.content, file.mode & 0o777) for name, file in found.items()} == {
        "a": (b"x", 0o644),
        "b": (b"", 0o755),
    }
    cache.write("key", {"a": File(b"y")})
    assert cache.read("key") == found, "the first one stays"


@pytest.mark.parametrize("why", ["no home", "home that is no folder", "cache of all"])
@pytest.mark.attack("programs in a cache, damaged or planted")
def test_tools_without_a_cache_of_the_user_get_another(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Yosys as WebAssembly fails where it cannot write to the home folder, and loads machine code from the cache."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o777)
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if why == "cache of all":
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "all"))
    elif why == "home that is no folder":
        monkeypatch.setenv("HOME", os.devnull)
    else:
        monkeypatch.setattr("golden.cache.Path.home", _no_home)
        assert user_folder("cosim") == tmp_path / f"mmau-{os.geteuid()}" / "mmau" / "cosim"
    environment = tool_environment()
    assert {environment[name] for name in ("HOME", "XDG_CACHE_HOME")} == {str(tmp_path / f"mmau-{os.geteuid()}")}


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_tools_have_the_cache_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert tool_environment()["HOME"] == str(tmp_path)
