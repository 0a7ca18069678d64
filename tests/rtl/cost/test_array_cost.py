"""Costs of arrays: counts of parts against Verilog, areas against the whole circuit, busy times against simulation."""

from typing import Any

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from golden.units.unit import Array
from rtl.cost.array_cost import Element, array_cost, between, utilisation
from rtl.cost.cost_request import CostRequest
from rtl.cost.flow import measure_joined
from rtl.cost.liberty import library
from rtl.cost.synthesis import TOP, map_whole
from rtl.designs.tile_design import TileDesign
from rtl.steps.component import never_built
from rtl.verilog.emit import modules, to_verilog
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys
from tests.rtl.designs.test_tile import check_array

SMALL: dict[str, Any] = {"a": "e2m1", "b": "e2m1", "c": "fp16", "L": 1, "F": 4, "rho": "RZ-FP16", "e_zero": -20}


def unit_with(stages: int = 1, **keys: Any) -> Unit:
    built, array = Implementation(stages=stages), Array(**{"rows": 2, "columns": 3, "steps": 4} | keys)
    return Unit(name="fp4", operation=TFDPA(**SMALL), implementation=built, array=array)


@pytest.mark.slow
@needs_yosys
@pytest.mark.parametrize("decoders", ["each", "edge"])
def test_registers_between_elements_are_those_of_the_verilog(decoders: str) -> None:
    unit, systolic = unit_with(decoders=decoders), unit_with(decoders=decoders, feed="systolic")

    def flip_flops(given: Unit) -> int:
        return measure_joined(to_verilog(given, TOP), TOP).registers

    tile = TileDesign.of_unit(systolic).component()
    never_built(tile)
    counters, c = 2 + 2, 16 * (2 * 3 - 1)  # of what is behind, and of what must wait; c of all elements but the first
    assert flip_flops(systolic) - flip_flops(unit) == between(tile) + counters + c


@pytest.mark.slow
@needs_yosys
@pytest.mark.parametrize("keys", [{}, {"feed": "systolic", "double_buffer": True, "decoders": "edge"}], ids=["plain", "all"])
def test_registers_of_an_array_whose_weights_stay_are_those_of_the_verilog(keys: dict[str, Any]) -> None:
    def unit() -> Unit:
        return unit_with(rows=3, stationary="weights", depth=5, **keys)

    def flip_flops(given: Unit | Element) -> int:
        text = to_verilog(given, TOP) if isinstance(given, Unit) else modules(given, TOP)
        return measure_joined(text, TOP).registers

    tile = TileDesign.of_unit(unit()).component()
    never_built(tile)
    elements, banks = 9 * flip_flops(Element(tile)), 3 * 5 * 16
    counters = 3 + 2 + 3 + 2 + (3 if keys else 2)  # row, step, rows under way, whether begun and full, cycles of weights
    assert flip_flops(unit()) == between(tile) + elements + banks + counters


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
@pytest.mark.parametrize("stays", [{}, {"stationary": "weights", "depth": 5}], ids=["outputs", "weights"])
def test_area_of_the_parts_is_about_that_of_the_whole(stays: dict[str, Any]) -> None:
    unit, cells = unit_with(feed="systolic", decoders="edge", double_buffer=True, **stays), library("osu018")
    found = array_cost(unit, cells, CostRequest(library="osu018"), 0.0)
    whole = map_whole(to_verilog(unit, TOP), cells).area
    assert found["array_area_um2"] == pytest.approx(whole, rel=0.05)
    assert found["array_macs"] == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stages", "keys"),
    [
        (1, {"feed": "systolic"}),
        (1, {"feed": "systolic", "double_buffer": True}),
        (2, {}),
        (2, {"feed": "systolic"}),
        (2, {"feed": "systolic", "stationary": "weights", "depth": 4}),
        (1, {"double_buffer": True, "stationary": "weights", "depth": 4}),
    ],
)
def test_utilisation_is_that_of_a_simulated_array(stages: int, keys: dict[str, Any]) -> None:
    unit = unit_with(stages, **keys)
    (short, latency), (long, _) = (check_array(unit, 0.0, 0.0, count) for count in (2, 6))
    cycles_of_a_result = (long - short) / 4
    assert latency == TileDesign.of_unit(unit).latency
    steps = 4 * 4 if "depth" in keys else 4  # each of them a cycle in which all elements work
    layer = {"layer": (4, 3, 8)} if "depth" in keys else {"layer": (4, 6, 4)}
    assert utilisation(unit, layer)["layer"] == round(steps / cycles_of_a_result, 4)
