"""Kernels compiled ahead: all that a part needs, each once, and only what is not there yet."""

import sys
import tarfile
from pathlib import Path

import pytest

import golden
from golden.native.cuda import key_of
from hwtests.nvidia.disassembly import cached_machine_code, expected
from hwtests.nvidia.kernels import kernels_of
from studies.lent_minutes import prebuild as module
from studies.lent_minutes.prebuild import Source, prebuild
from tests.hwtests.compilers import needs_cuda_compiler


@needs_cuda_compiler
def test_kernels_are_compiled_into_the_folder_with_what_they_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes; what is there is not compiled again; one that the compiler refuses stops nothing."""
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path))
    instruction = golden.instruction("sm_90", "mma.m16n8k8.f32.f16.f16.f32")
    (kernel,) = kernels_of(instruction)
    wanted = [Source(kernel.source, kernel.target, None, True), Source("no kernel", "sm_90", None, False)]
    assert prebuild(wanted, processes=2) == 2
    path = tmp_path / key_of(kernel.source, kernel.target) / "kernel.cubin"
    assert cached_machine_code(path.read_bytes()) == expected(instruction)
    monkeypatch.setattr("hwtests.nvidia.disassembly.matrix_instructions", None)  # it is read from beside the cubin
    assert cached_machine_code(path.read_bytes()) == expected(instruction)
    monkeypatch.setattr(module, "Worker", None)
    assert prebuild(wanted[:1]) == 1
    monkeypatch.setattr(module, "sources", lambda: wanted[:1])
    assert module.main() == 0
    with tarfile.open(tmp_path.with_name(f"{tmp_path.name}.tar.xz")) as packed:
        assert f"{tmp_path.name}/{path.parent.name}/kernel.cubin" in packed.getnames()


CRASHES = """
import os
from studies.lent_minutes import prebuild
prebuild.build = lambda made: os.abort() if made.text == "crash" else ""
prebuild.serve()
"""


@pytest.mark.slow
def test_compiler_that_crashes_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel that it crashed on is not counted, and compiled at its first use."""
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path))
    monkeypatch.setattr(module, "key_of", lambda *source: "missing")
    monkeypatch.setattr(module, "WORKER", (sys.executable, "-c", CRASHES))
    wanted = [Source(text, "sm_90", tmp_path, False) for text in ("a", "crash", "b", "c")]
    assert prebuild(wanted, processes=2) == 3
