"""Kernels compiled ahead: all that a part needs, each once, and only what is not there yet."""

import sys
from pathlib import Path

import pytest

import golden
from golden.chains.chain import ORDERS
from golden.native.cuda import key_of
from hwtests.nvidia import disassembly
from hwtests.nvidia.disassembly import cached_machine_code, expected
from hwtests.nvidia.kernels import kernels_of
from studies.lent_minutes import prebuild as module
from studies.lent_minutes.conversions import CONVERSIONS
from studies.lent_minutes.prebuild import Source, prebuild, sources
from studies.microbenchmarks.run import benchmarks
from tests.hwtests.compilers import needs_cuda_compiler


def test_sources_are_all_that_the_list_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two instructions, a benchmark and a conversion: both routes, engine in every order, stimulus and comparison, with
    another e_zero too; an instruction's all before the next one's, so that a folder that is not full serves the first."""
    names = ("wgmma.sp.m64n8k32.f16.f16.f16", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", "mma.m8n8k32.s32.s4.u4.s32")
    monkeypatch.setattr(module, "wanted", lambda: [golden.instruction("sm_90", name) for name in names])
    monkeypatch.setattr(module, "distinct", list)
    monkeypatch.setattr(module, "CONVERSIONS", {"fp16": CONVERSIONS["fp16"]})
    one = benchmarks("sm_90")[:1]
    monkeypatch.setattr(module, "benchmarks", lambda arch: one)
    found = list(sources())
    assert [next(word for word in ENTRIES if f" {word}(" in made.text) for made in found] == [
        "run_tiles", "run_tiles", "dot_rows", "compare_tiles", "compare_tiles", "fill_tiles",
        "run_tiles", "dot_rows", *["dot_rows"] * len(ORDERS), "compare_tiles", "compare_tiles", "fill_tiles",
        "run_tiles", "dot_rows", "compare_tiles", "fill_tiles",
        "convert", *["measure"] * len(one[0].sources),
    ]  # fmt: skip
    assert {made.target for made in found} == {"sm_90", "sm_90a"}


ENTRIES = ("dot_rows", "run_tiles", "compare_tiles", "fill_tiles", "measure", "convert")


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


@pytest.mark.parametrize("trouble", ["missing", "refuses", "hangs", "may not run"])
def test_machine_code_is_unknown_without_a_disassembler_that_reads_it(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of a kernel are measured all the same."""
    monkeypatch.delenv("MMAU_CUBINS", raising=False)

    def find() -> str:
        if trouble == "missing":
            raise FileNotFoundError("nvdisasm was not found")
        if trouble == "may not run":
            return "/dev/null"
        return "false" if trouble == "refuses" else "yes"

    monkeypatch.setattr(disassembly, "nvdisasm", find)
    monkeypatch.setattr(disassembly, "DISASSEMBLY_SECONDS", 0.2)
    assert disassembly.known_machine_code(b"\x7fELF" + bytes(100)) == {}


def test_folder_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MMAU_CUBINS", raising=False)
    with pytest.raises(ValueError, match=r"^MMAU_CUBINS must name the folder of the cubins, and is not set$"):
        prebuild([])


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
