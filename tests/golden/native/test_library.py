"""The native library computes only where it was compiled from the sources beside it."""

import ctypes
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.native import library as native
from mmau.cli.main import main
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

HEADER = "include/mmau.h"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the C++ sources, which the library is compared with when it is loaded next."""
    for part in ("include", "src"):
        shutil.copytree(native.SOURCES / part, tmp_path / part)
    monkeypatch.setattr(native, "SOURCES", tmp_path)
    native.library.cache_clear()
    yield tmp_path
    native.library.cache_clear()


def edited(folder: Path) -> None:
    """Make a member of a struct wider: the library would read the ones after it from the wrong places."""
    header = folder / HEADER
    text = header.read_text(encoding="utf-8")
    member = "int32_t K;          /* products */"
    assert text.count(member) == 1
    header.write_text(text.replace(member, member.replace("32", "64")), encoding="utf-8")


def added(folder: Path) -> None:
    (folder / "include" / "mmau" / "more.hpp").touch()


def removed(folder: Path) -> None:
    (folder / "src" / "dpi.cpp").unlink()


def renamed(folder: Path) -> None:
    (folder / "src" / "dpi.cpp").rename(folder / "src" / "sv.cpp")


def exchanged(folder: Path) -> None:
    """Two files with each other's contents."""
    first, second = folder / "src" / "dpi.cpp", folder / "src" / "tile.cpp"
    contents = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(contents)


def refusal(lib: str, folder: Path) -> str:
    return (
        f"the native library {lib} must be compiled from the sources in {folder}, and was compiled from others: "
        "build it again, with `make .venv/.dev` in a clone, else with `pip install`"
    )


def test_library_is_of_the_sources_beside_it(sources: Path) -> None:
    lib = native.library()
    assert lib is not None
    assert lib.mmau_source_digest().decode() == native.source_digest(sources)


@pytest.mark.attack("a native library that is older than its sources")
@pytest.mark.parametrize("change", [edited, added, removed, renamed, exchanged])
def test_library_of_other_sources_computes_nothing(change: Callable[[Path], None], sources: Path) -> None:
    lib = native.library()
    assert lib is not None
    native.library.cache_clear()
    change(sources)
    instruction = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    ones = np.ones((1, 16), np.float16)
    with pytest.raises(ImportError) as raised:
        instruction.dot(ones, ones, np.ones(1, np.float32))
    assert str(raised.value) == refusal(lib._name, sources)


@pytest.mark.attack("a native library that is older than its sources")
def test_command_with_a_library_of_other_sources_is_one_message(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lib = native.library()
    assert lib is not None
    native.library.cache_clear()
    edited(sources)
    ones = np.ones((1, 16), np.float16)
    np.savez(tmp_path / "v.npz", a=ones, b=ones, c=np.ones(1, np.float32))
    name = ["--arch", "sm_90", "--instr", "mma.m16n8k16.f32.f16.f16.f32"]
    assert main(["eval", *name, "--input", str(tmp_path / "v.npz"), "--output", str(tmp_path / "d.npz")]) == 2
    assert capsys.readouterr().err == f"mmau eval: {refusal(lib._name, sources)}\n"
    assert not (tmp_path / "d.npz").exists()


@pytest.mark.attack("a native library that is older than its sources")
def test_library_without_a_digest_is_refused(sources: Path) -> None:
    other = ctypes.CDLL(None)  # this process, whose symbols have no such function
    with pytest.raises(ImportError, match="must be compiled from the sources in"):
        native.check_sources(other, sources)


def test_library_without_sources_beside_it_is_not_compared(tmp_path: Path) -> None:
    native.check_sources(ctypes.CDLL(None), tmp_path)
