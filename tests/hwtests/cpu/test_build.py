"""Kernels are built once, and a compiler that is missing or does not know an instruction is one message."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import golden
from hwtests.cpu import build
from hwtests.cpu.device import ARCHITECTURES
from hwtests.cpu.kernel import kernel_of
from hwtests.device import DeviceError

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on PATH")

KNOWN = [i for arch in ARCHITECTURES for i in golden.instructions(arch) if not i.name.startswith("tdpfp16ps") and i.k <= 32]
"""What compilers have known for years; AMX on fp16 came with gcc 13."""

VPDPBUSD = kernel_of(golden.instruction("x86-avx512", "vpdpbusd"))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mmau"


@needs_compiler
def test_every_kernel_compiles_with_this_compiler(empty_cache: Path) -> None:
    kernels = {kernel_of(instruction) for instruction in KNOWN}
    assert len(kernels) == 4 + 5
    for kernel in kernels:
        assert build.built(kernel).stat().st_size > 1000
    assert sorted(path.suffix for path in empty_cache.iterdir()) == [".so"] * len(kernels)


@needs_compiler
def test_kernel_is_built_once_and_anew_with_other_options(empty_cache: Path) -> None:
    first = build.built(VPDPBUSD)
    made = first.stat().st_mtime_ns
    assert build.built(VPDPBUSD) == first
    assert first.stat().st_mtime_ns == made
    assert build.built(replace(VPDPBUSD, options=(*VPDPBUSD.options, "-DOTHER"))) != first


@needs_compiler
def test_compiler_that_does_not_know_an_instruction(empty_cache: Path) -> None:
    with pytest.raises(DeviceError, match=r"^.* does not compile avx512\.c with .*-mno-such-thing: .*"):
        build.built(replace(VPDPBUSD, options=("-mno-such-thing",)))
    assert list(empty_cache.iterdir()) == []


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    message = (
        r"conformance on a processor needs a C compiler, and there is none: cc, gcc, clang not on PATH; "
        r"install one \(Debian: gcc\) or name it in CC"
    )
    with pytest.raises(DeviceError, match=f"^{message}$"):
        build.compiler()
