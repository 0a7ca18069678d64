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


NAMES_STEPS = '#include "inner/dot.hpp"'


def test_key_depends_on_everything(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Source, target, options, compiler, and headers, which a header that the source names includes."""
    header = tmp_path / "inner" / "steps.hpp"
    header.parent.mkdir()
    header.write_text("int x;")
    header.with_name("dot.hpp").write_text('#ifdef X\n  # include "steps.hpp"\n#endif\n#include "mmau.h"\n')
    (tmp_path / "mmau.h").write_text("int z;")
    keys = [
        key_of(NAMES_STEPS, "sm_90", tmp_path),
        key_of(NAMES_STEPS + "\n", "sm_90", tmp_path),
        key_of(NAMES_STEPS, "sm_80", tmp_path),
        key_of(NAMES_STEPS, "sm_90"),
    ]
    for path in (header, tmp_path / "mmau.h", header.with_name("dot.hpp")):
        path.write_text(path.read_text() + "int y;")
        cuda._headers.cache_clear()  # another process
        keys.append(key_of(NAMES_STEPS, "sm_90", tmp_path))
    monkeypatch.setattr(cuda, "OPTIONS", ("-ftz=true",))
    keys.append(key_of(NAMES_STEPS, "sm_90", tmp_path))
    monkeypatch.setattr(cuda, "version", lambda major: "13.5")
    keys.append(key_of(NAMES_STEPS, "sm_90", tmp_path))
    assert len(set(keys)) == len(keys)


def test_header_that_a_source_does_not_include_changes_nothing(compiled: list[str], tmp_path: Path) -> None:
    """Kernels that were brought along stay those of their source."""
    (tmp_path / "dot.hpp").write_text("int x;")
    before = key_of('#include "dot.hpp"', "sm_90", tmp_path)
    (tmp_path / "other.hpp").write_text("int y;")
    cuda._headers.cache_clear()
    assert key_of('#include "dot.hpp"', "sm_90", tmp_path) == before
