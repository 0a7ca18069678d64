"""Compilation with NVRTC: which library is taken, and that its builtins are loaded first."""

import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from golden.native import nvrtc
from golden.native.nvrtc import CompileError, compile_cubin
from tests.hwtests.compilers import needs_cuda_compiler

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the libraries that are loaded, in order, without loading any; every library exists."""
    paths: list[str] = []

    def load(path: str) -> SimpleNamespace:
        paths.append(path)
        return SimpleNamespace(nvrtcGetErrorString=SimpleNamespace())

    monkeypatch.setattr(ctypes, "CDLL", load)
    nvrtc.load.cache_clear()
    yield paths
    nvrtc.load.cache_clear()


def test_builtins_beside_the_library_are_loaded_before_it(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libnvrtc of CUDA 13.0 finds them only so; those of another major version are left alone."""
    for name in ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.12.9"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MMAU_NVRTC", str(tmp_path))
    nvrtc.load(13)
    assert opened == [str(tmp_path / "libnvrtc-builtins.so.13.0"), str(tmp_path / "libnvrtc.so.13")]


def test_library_that_is_nowhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise OSError(path)

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    nvrtc.load.cache_clear()
    with pytest.raises(
        FileNotFoundError,
        match=r"^NVRTC of CUDA 13 \(libnvrtc\.so\.13\) was not found; install it with: pip install nvidia-cuda-nvrtc$",
    ):
        nvrtc.load(13)


@needs_cuda_compiler
def test_refused_source_says_why() -> None:
    with pytest.raises(CompileError, match=r"^NVRTC refuses a kernel for sm_80: kernel\.cu\(1\): error: "):
        compile_cubin("no kernel", "sm_80")


@needs_cuda_compiler
def test_headers_are_found(tmp_path: Path) -> None:
    (tmp_path / "width.h").write_text("constexpr int width = 3;\n")
    source = '#include "width.h"\nextern "C" __global__ void fill(int* d) { *d = width; }'
    assert b"fill" in compile_cubin(source, "sm_90", tmp_path)
    with pytest.raises(CompileError, match=r"width\.h"):
        compile_cubin(source, "sm_90")


@needs_cuda_compiler
def test_chosen_folder_is_the_one_that_compiles() -> None:
    """`make kernels` runs twice: with the newest NVRTC and with the oldest, which lies in a folder of its own."""
    oldest = re.search(r"^nvidia-cuda-nvrtc==(\d+\.\d+)\.", (ROOT / "constraints-oldest.txt").read_text(), re.M)
    assert oldest is not None
    assert oldest[1] == "13.0"
    assert (nvrtc.version(13) == oldest[1]) == ("MMAU_NVRTC" in os.environ)
