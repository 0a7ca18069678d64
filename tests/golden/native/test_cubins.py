"""Cubins by content: compiled once, and again when anything that they depend on changes."""

from pathlib import Path

import pytest

from golden.native import cuda
from golden.native.cuda import cubin, key_of

CUBIN = b"\x7fELF compiled"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that reached the compiler, of version 13.0."""
    sources: list[str] = []

    def compile_source(source: str, target: str, include: Path | None = None) -> bytes:
        sources.append(source)
        return CUBIN

    monkeypatch.setattr(cuda, "compile_cubin", compile_source)
    monkeypatch.setattr(cuda, "version", lambda major: "13.0")
    monkeypatch.delenv("MMAU_CUBINS", raising=False)
    cuda._compiled.cache_clear()
    return sources


def test_folder_keeps_them_between_processes(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path / "cubins"))
    assert cubin("x", "sm_90") == CUBIN
    cuda._compiled.cache_clear()  # another process
    assert cubin("x", "sm_90") == CUBIN
    assert compiled == ["x"]
    assert [path.name for path in (tmp_path / "cubins").iterdir()] == [key_of("x", "sm_90")]


def test_damaged_file_is_compiled_again(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was cut too, and still begins as a cubin does."""
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path))
    assert cubin("x", "sm_90") == CUBIN
    cuda._compiled.cache_clear()  # another process
    (tmp_path / key_of("x", "sm_90") / "kernel.cubin").write_bytes(CUBIN[:6])
    assert cubin("x", "sm_90") == CUBIN
    assert compiled == ["x", "x"]


def test_key_depends_on_everything(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Source, target, options, compiler, and headers, which the source only names."""
    header = tmp_path / "inner" / "steps.hpp"
    header.parent.mkdir()
    header.write_text("int x;")
    keys = [
        key_of("x", "sm_90", tmp_path),
        key_of("y", "sm_90", tmp_path),
        key_of("x", "sm_80", tmp_path),
        key_of("x", "sm_90"),
    ]
    header.write_text("int y;")
    cuda._headers.cache_clear()  # another process
    keys.append(key_of("x", "sm_90", tmp_path))
    header.rename(header.with_name("other.hpp"))
    cuda._headers.cache_clear()
    keys.append(key_of("x", "sm_90", tmp_path))
    monkeypatch.setattr(cuda, "OPTIONS", ("-ftz=true",))
    keys.append(key_of("x", "sm_90", tmp_path))
    monkeypatch.setattr(cuda, "version", lambda major: "13.5")
    keys.append(key_of("x", "sm_90", tmp_path))
    assert len(set(keys)) == len(keys)
