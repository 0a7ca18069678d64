"""Kernels are built once, and a compiler that is missing or does not know an instruction is one message."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import golden
from hwtests.cpu import host_processor
from hwtests.cpu.host_processor import ARCHITECTURES, kernel_of
from hwtests.device import DeviceError

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on PATH")

KNOWN = [i for arch in ARCHITECTURES for i in golden.instructions(arch) if not i.name.startswith("tdpfp16ps") and i.k <= 32]
"""Instructions that all current compilers know; AMX on fp16 needs gcc 13."""

VPDPBUSD = kernel_of(golden.instruction("x86-avx512", "vpdpbusd"))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mmau" / "cpu"


@pytest.mark.long
@needs_compiler
def test_every_kernel_compiles_with_this_compiler(empty_cache: Path) -> None:
    kernels = {kernel_of(instruction) for instruction in KNOWN}
    assert len(kernels) == 4 + 5
    for kernel in kernels:
        assert len(host_processor.built(kernel)) > 1000
    assert len(list(empty_cache.iterdir())) == len(kernels)


@pytest.mark.slow
@needs_compiler
def test_kernel_is_built_once_and_anew_with_other_options(empty_cache: Path) -> None:
    first = host_processor.built(VPDPBUSD)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(host_processor, "_compile", None)  # it is read from the cache
        assert host_processor.built(VPDPBUSD) == first
    host_processor.built(replace(VPDPBUSD, options=(*VPDPBUSD.options, "-DOTHER")))
    assert len(list(empty_cache.iterdir())) == 2


@pytest.mark.slow
@needs_compiler
@pytest.mark.attack("programs in a cache, damaged or planted")
def test_damaged_kernel_is_built_anew(empty_cache: Path) -> None:
    """Half a shared object would crash the process that loads it."""
    first = host_processor.built(VPDPBUSD)
    (library,) = empty_cache.glob("*/kernel.so")
    library.write_bytes(first[: len(first) // 2])
    assert host_processor.built(VPDPBUSD) == first
    assert library.read_bytes() == first


@needs_compiler
def test_compiler_that_does_not_know_an_instruction(empty_cache: Path) -> None:
    with pytest.raises(DeviceError, match=r"^.* does not compile avx512\.c with .*-mno-such-thing: .*"):
        host_processor.built(replace(VPDPBUSD, options=("-mno-such-thing",)))
    assert not empty_cache.exists()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    message = (
        r"conformance on a processor needs a C compiler, and there is none: cc, gcc, clang not on PATH; "
        r"install one \(Debian: gcc\) or name it in CC"
    )
    with pytest.raises(DeviceError, match=f"^{message}$"):
        host_processor.compiler()
