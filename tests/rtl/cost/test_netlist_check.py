"""A mapped netlist is held to the golden model; a wrong one is found."""

import re
from dataclasses import replace
from typing import Any

import pytest

from golden import Unit
from golden.units.unit_file import unit_from_table
from rtl import to_verilog
from rtl.cost.liberty import Library, library
from rtl.cost.mapped_netlist import Netlist, NetlistError, check_netlist
from rtl.cost.synthesis import TOP, map_whole
from tests.rtl.cost.needs import needs_library, needs_yosys, small_unit

pytestmark = [needs_yosys, needs_library, pytest.mark.slow]

DIFFERS = r"small: the mapped netlist must compute what the golden model does; \d+ of \d+ results differ, the first is 0x"


@pytest.fixture(scope="module")
def osu018() -> Library:
    return library("osu018")


@pytest.fixture(scope="module")
def combinational(osu018: Library) -> Netlist:
    return netlist_of(small_unit(), osu018)


@pytest.fixture(scope="module")
def staged(osu018: Library) -> Netlist:
    return netlist_of(small_unit(stages=2), osu018)


def netlist_of(unit: Unit, cells: Library) -> Netlist:
    return map_whole(to_verilog(unit, TOP), cells).netlist


def test_netlist_computes_what_the_model_does(osu018: Library, combinational: Netlist, staged: Netlist) -> None:
    check_netlist(combinational, osu018, small_unit(), 0, 1000)
    check_netlist(staged, osu018, small_unit(stages=2), 2, 1000)


@pytest.mark.parametrize("kind", ["NAND2X1", "NOR2X1", "XOR2X1", "INVX1", "AOI21X1", "OAI21X1"])
@pytest.mark.attack("netlists of a synthesis")
def test_wrong_gate_is_found(osu018: Library, combinational: Netlist, kind: str) -> None:
    swapped = {"NAND2X1": "NOR2X1", "NOR2X1": "NAND2X1", "XOR2X1": "XNOR2X1", "INVX1": "BUFX2"}
    swapped |= {"AOI21X1": "OAI21X1", "OAI21X1": "AOI21X1"}
    place = next(i for i, cell in enumerate(combinational.cells) if cell.kind == kind)
    with pytest.raises(NetlistError, match=f"^{DIFFERS}"):
        check_netlist(with_cell(combinational, place, kind=swapped[kind]), osu018, small_unit(), 0, 1000)


@pytest.mark.attack("netlists of a synthesis")
def test_inputs_in_another_order_are_found(osu018: Library, combinational: Netlist) -> None:
    inputs = dict(combinational.inputs)
    inputs["a"] = inputs["a"][::-1]
    with pytest.raises(NetlistError, match=f"^{DIFFERS}"):
        check_netlist(replace(combinational, inputs=inputs), osu018, small_unit(), 0, 1000)


@pytest.mark.parametrize("change", [{"F": 5}, {"F": 7}, {"e_zero": -10}])
@pytest.mark.attack("netlists of a synthesis")
def test_netlist_of_another_unit_is_found(osu018: Library, combinational: Netlist, change: dict[str, Any]) -> None:
    unit = small_unit()
    other = replace(unit, operation=replace(unit.operation, **change))
    with pytest.raises(NetlistError, match=f"^{DIFFERS}"):
        check_netlist(combinational, osu018, other, 0, 1000)


@pytest.mark.parametrize(("latency", "cycle"), [(1, 1), (3, 2)])
@pytest.mark.attack("netlists of a synthesis")
def test_latency_that_is_wrong_is_found(osu018: Library, staged: Netlist, latency: int, cycle: int) -> None:
    message = f"small: the mapped netlist must give results from cycle {latency} on, not in {cycle}"
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        check_netlist(staged, osu018, small_unit(stages=2), latency, 100)


@pytest.mark.attack("netlists of a synthesis")
def test_registers_that_are_mixed_up_are_found(osu018: Library, staged: Netlist) -> None:
    sign, exponent = staged.outputs["d"][15], staged.outputs["d"][10]
    places = {cell.nets["Q"]: i for i, cell in enumerate(staged.cells) if cell.kind == "DFFPOSX1"}
    nets = staged.cells[places[sign]].nets
    wrong = with_cell(staged, places[sign], nets={**nets, "D": staged.cells[places[exponent]].nets["D"]})
    with pytest.raises(NetlistError, match=f"^{DIFFERS}"):
        check_netlist(wrong, osu018, small_unit(stages=2), 2, 1000)


def with_cell(netlist: Netlist, place: int, **changes: Any) -> Netlist:
    cells = list(netlist.cells)
    cells[place] = replace(cells[place], **changes)
    return replace(netlist, cells=tuple(cells))


def modes(second: str, c: str = "c") -> Unit:
    """A unit of two formats, or two signs of c."""
    keys = {
        "name": "modes",
        "a": "e4m3",
        "b": "e4m3",
        "c": "fp16",
        "L": 1,
        "rho": "RZ-FP16",
        "implementation": {"stages": 1},
    }
    if c == "c":
        control = {"format": {"key": "formats", "values": {"0": "e4m3", "1": second}}}
        return unit_from_table({**keys, "operation": "T-FDPA", "F": 6, "e_zero": -20, "controls": control})
    control = {"op": {"key": "operation", "values": {"0": {}, "1": {"c": c}, "3": {"operation": "ADD", "a": "b", "b": "c"}}}}
    fma = {"operation": "FMA", "a": second, "b": second, "c": second, "rho": f"RNE-{second.upper()}"}
    return unit_from_table({"name": "modes", **fma, "implementation": {"stages": 1}, "controls": control})


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
@pytest.mark.parametrize(("right", "wrong"), [(modes("e5m2"), modes("e4m3ieee")), (modes("e5m2", "-c"), modes("e5m2", "a"))])
def test_netlist_is_right_in_every_mode(osu018: Library, right: Unit, wrong: Unit) -> None:
    """A netlist that is right in the first mode alone passed where vectors are those of the first mode."""
    netlist = netlist_of(right, osu018)
    check_netlist(netlist, osu018, right, 1, 400)
    with pytest.raises(NetlistError, match=f"^{DIFFERS.replace('small', 'modes, .*')}"):
        check_netlist(netlist, osu018, wrong, 1, 400)


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
def test_netlist_takes_zero_points(osu018: Library) -> None:
    """Those of unsigned elements are not those of signed ones."""
    keys = {
        "name": "zeros",
        "operation": "T-FDPA",
        "L": 1,
        "F": 6,
        "e_zero": -20,
        "a": "e2m1",
        "c": "fp16",
        "rho": "RZ-FP16",
    }
    right, wrong = (unit_from_table({**keys, "b": b, "controls": {"zb": {"key": "zero_b"}}}) for b in ("uint3", "int3"))
    netlist = netlist_of(right, osu018)
    check_netlist(netlist, osu018, right, 0, 400)
    with pytest.raises(NetlistError, match=f"^{DIFFERS.replace('small', 'zeros')}"):
        check_netlist(netlist, osu018, wrong, 0, 400)
