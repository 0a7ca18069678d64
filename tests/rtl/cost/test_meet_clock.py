"""Stages for a clock: what is found meets it by static timing analysis, and one stage less does not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from golden import Unit, cache
from golden.units.controls import controls_from_table
from rtl.cost import placer as module
from rtl.cost import timing
from rtl.cost.cost_columns import measure as measure_cost
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.meet_clock import meet_clock
from rtl.cost.placer import Placer, Segments
from rtl.datapath.base import Datapath
from rtl.designs.unit_design import as_design
from rtl.steps.component import never_built
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit

pytestmark = [needs_yosys, needs_library, needs_sta, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of these tests alone, which share it: each number of stages is measured once."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(cache, "user_folder", folder.joinpath)
        yield


TWO_MODES = controls_from_table(
    {"format": {"key": "formats", "values": {"0": "e2m1", "1": {"a": "e2m1", "b": "e2m1", "L": 1}}}}
)


def clocked(clock_ns: float) -> Unit:
    return small_unit(clock_ns=clock_ns)


@pytest.fixture(scope="module")
def delays(own_cache: None) -> dict[int, float]:
    """The shortest clock period of the first numbers of stages."""
    placer = Placer(small_unit())
    return {stages: placer.delay_of(stages) for stages in range(4)}


def test_clock_is_met_and_not_with_one_stage_less(delays: dict[int, float], monkeypatch: pytest.MonkeyPatch) -> None:
    for stages in (2, 3):
        met = meet_clock(clocked(delays[stages]))
        built = met.unit.implementation
        assert built.stages == len(built.registers) == len(met.timing.stages)
        assert built.clock_ns is None
        assert met.timing.delay_ns <= delays[stages]
        assert delays[built.stages - 1] > delays[stages]
        assert [stage.register for stage in met.timing.stages] == list(built.registers)
        assert max(stage.delay_ns for stage in met.timing.stages) <= met.timing.delay_ns
    found = measure_cost(met.unit)
    assert (found["delay_ns"], found["area_um2"]) == (met.timing.delay_ns, met.timing.area_um2)
    curve = met.curve()
    assert [len(point.stages) for point in curve] == [0, 1, 2, 3]
    assert [point.delay_ns for point in curve] == list(delays.values())
    assert curve[0].area_um2 < curve[3].area_um2
    met = meet_clock(clocked(delays[0]))
    assert (met.unit, met.timing.stages) == (small_unit(), ()), "a clock that needs no registers gets none"
    check_measurements_are_kept(delays, monkeypatch)


def check_measurements_are_kept(delays: dict[int, float], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        for each in given:
            if isinstance(each, Datapath):
                never_built(each)
        raise AssertionError("measured again")

    monkeypatch.setattr(module, "map_whole", fails)
    monkeypatch.setattr(module, "measure_segments", fails)
    meet_clock(clocked(delays[2]))
    with pytest.raises(AssertionError, match=r"^measured again$"):
        meet_clock(replace(clocked(delays[2]), implementation=replace(clocked(2.0).implementation, adder="sklansky")))


@pytest.mark.long
def test_clock_that_no_stages_meet_is_refused() -> None:
    message = (
        r"clock_ns must be a period that registers between steps reach, got 0\.01: the shortest of small is \d\.\d+ ns, "
        r"with \d stages, and its longest step is \w+; ask for a longer period, or for another circuit of that step"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        meet_clock(clocked(0.01))


def test_unit_without_clock_or_tool_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"^small must have the key clock_ns in \[implementation\], and has none$"):
        meet_clock(small_unit())
    monkeypatch.setattr(timing, "which", lambda name: None)
    with pytest.raises(MissingTool, match=r"^delay and power need OpenSTA's program sta, which is not there; install "):
        meet_clock(clocked(2.0))


@pytest.mark.attack("delays between boundaries that claim that one stage is fast enough")
def test_placement_is_timed_and_not_believed(delays: dict[int, float], monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(placer: Placer) -> Segments:
        points = ("operands", "decode", "multiply", "max_exp", "align", "accumulate", "normalise", "encode")
        return Segments(points, ((0.0,) * 8,) * 9, (1,) * 8)

    monkeypatch.setattr(Placer, "_measured_segments", lie)
    met = meet_clock(clocked(delays[1] * 0.9))
    assert met.unit.implementation.stages > 0
    assert met.timing.delay_ns <= delays[1] * 0.9
    assert measure_cost(met.unit)["delay_ns"] == met.timing.delay_ns


@pytest.mark.attack("a netlist with a register left out, under whose delays stages would seem to fit")
def test_netlist_of_other_stages_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = to_verilog

    def shorter(unit: Unit, top: str) -> str:
        fewer = replace(unit.implementation, stages=1, registers=("encode",))
        return real(replace(unit, implementation=fewer), top)

    monkeypatch.setattr(cache, "user_folder", tmp_path.joinpath)
    monkeypatch.setattr(module, "to_verilog", shorter)
    with pytest.raises(NetlistError, match=r"^small: "):
        Placer(small_unit()).timing(2)


def test_unit_in_several_modes_meets_a_clock() -> None:
    """Each placement is computed on vectors of both modes."""
    unit = replace(clocked(5.0), controls=TWO_MODES)
    met = meet_clock(unit)
    assert (met.unit.controls, met.unit.implementation.stages) == (TWO_MODES, len(met.timing.stages))
    assert met.timing.delay_ns <= 5.0
    assert as_design(met.unit).latency == met.unit.implementation.stages > 0
