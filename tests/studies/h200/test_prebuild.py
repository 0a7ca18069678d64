"""Kernels compiled ahead: all that a part needs, each once, and only what is not there yet."""

import sys
from pathlib import Path
from typing import Any

import pytest

import golden
from golden.chain import ORDERS, Chain
from golden.native.cubins import key_of
from golden.native.cuda import source
from golden.stimulus import Operands
from hwtests.conform.check import Check
from hwtests.conform.instruction_progress import Progress
from hwtests.nvidia import disassembly
from hwtests.nvidia.disassembly import cached_machine_code, expected
from hwtests.nvidia.kernels import kernels_of
from studies.h200 import prebuild as module
from studies.h200.prebuild import Source, prebuild, sources
from studies.microbenchmarks.run import benchmarks
from tests.hwtests.compilers import needs_cuda_compiler
from tests.studies.h200.stand_in import ModelDevice, right


def test_sources_of_a_part_are_all_that_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two instructions and a benchmark: both routes, engine, stimulus and comparison, with another e_zero too."""
    pair = [golden.instruction("sm_90", name) for name in ("wgmma.m64n8k16.f32.f16.f16", "mma.m8n8k4.f64.f64.f64.f64")]
    one = benchmarks("sm_90")[:1]
    monkeypatch.setattr(golden, "instructions", lambda arch: pair)
    monkeypatch.setattr(module, "instructions_of", lambda arch: [])
    monkeypatch.setattr(module, "benchmarks", lambda arch: one)
    found = list(sources("sm_90"))
    entries = [next(word for word in ENTRIES if f" {word}(" in made.text) for made in found]
    loops = len(one[0].sources)
    assert entries == [
        "dot_rows", "dot_rows", "run_tiles", "run_tiles", "run_tiles", *["measure"] * loops,
        "compare_tiles", "compare_tiles", "fill_tiles", "compare_tiles", "fill_tiles",
    ]  # fmt: skip
    assert {made.target for made in found} == {"sm_90", "sm_90a"}


def test_every_order_that_is_scored_is_among_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's kernels that a check of FP8 `mma.sync` asks for, one for each order of the products."""
    instruction = golden.instruction("sm_90", "mma.m16n8k32.f32.e4m3.e5m2.f32")
    monkeypatch.setattr(golden, "instructions", lambda arch: [instruction])
    monkeypatch.setattr(module, "instructions_of", lambda arch: [])
    monkeypatch.setattr(module, "benchmarks", lambda arch: [])
    asked: set[str] = set()

    class Asked(ModelDevice):
        def dot(self, chain: Chain, rows: Operands) -> Any:
            asked.add(source(chain, rows.a.shape[-1]))
            return super().dot(chain, rows)

    checks = Check(Asked(right), instruction, 1, Progress())
    assert instruction.fp16_order is not None
    monkeypatch.setattr("hwtests.conform.check.ORDER_CANDIDATES", 1 << 10)
    checks.check_orders(instruction.chain)
    assert len(asked) == len(ORDERS)
    assert asked <= {made.text for made in sources("sm_90")}


ENTRIES = ("dot_rows", "run_tiles", "compare_tiles", "fill_tiles", "measure")


@needs_cuda_compiler
def test_kernels_are_compiled_into_the_folder_with_what_they_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes; what is there is not compiled again; one that the compiler refuses stops nothing."""
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path))
    instruction = golden.instruction("sm_90", "mma.m16n8k8.f32.f16.f16.f32")
    (kernel,) = kernels_of(instruction)
    wanted = [Source(kernel.source, kernel.target, None, True), Source("no kernel", "sm_90", None, False)]
    assert prebuild(wanted, 300.0, processes=2) == 2
    path = tmp_path / key_of(kernel.source, kernel.target) / "kernel.cubin"
    assert cached_machine_code(path.read_bytes()) == expected(instruction)
    monkeypatch.setattr("hwtests.nvidia.disassembly.matrix_instructions", None)  # it is read from beside the cubin
    assert cached_machine_code(path.read_bytes()) == expected(instruction)
    monkeypatch.setattr(module, "Worker", None)
    assert prebuild(wanted[:1], 300.0) == 1


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
        prebuild([], 1.0)


CRASHES = """
import os
from studies.h200 import prebuild
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
    assert prebuild(wanted, 300.0, processes=2) == 3


def test_time_limit_leaves_the_rest_for_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMAU_CUBINS", str(tmp_path))
    monkeypatch.setattr(module, "key_of", lambda *source: "missing")
    assert prebuild([Source("x", "sm_90", None, False)], -1.0, processes=1) == 0
