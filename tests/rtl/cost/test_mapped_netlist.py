"""Netlists computed from the functions of their cells, and the delays between their boundaries, worked out by hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rtl.cost.liberty import Library, read_library
from rtl.cost.mapped_netlist import Netlist, NetlistError, Simulation, read_netlist
from rtl.cost.placer import Segments, read_arcs, segments_of
from rtl.cost.timing import TimingError
from tests.rtl.cost.test_liberty import SMALL, written


@pytest.fixture
def small(tmp_path: Path) -> Library:
    return read_library(written(tmp_path, SMALL))


def circuit(cells: dict[str, tuple[str, dict[str, Any]]], **outputs: Any) -> str:
    """A module `top` with inputs clk = net 2, a = net 3 and b = net 4, as Yosys writes it."""
    ports = {name: {"direction": "input", "bits": [2 + k]} for k, name in enumerate(("clk", "a", "b"))}
    ports |= {name: {"direction": "output", "bits": [bit]} for name, bit in outputs.items()}
    placed = {
        name: {"type": kind, "connections": {pin: [net] for pin, net in nets.items()}}
        for name, (kind, nets) in cells.items()
    }
    return json.dumps({"modules": {"top": {"ports": ports, "cells": placed}}})


NAND = {"u": ("NAND2", {"A": 3, "B": 4, "Y": 5})}
VECTORS = {"clk": [0], "a": [0b0011], "b": [0b0101]}


def test_gate_computes_its_function(small: Library) -> None:
    netlist = read_netlist(circuit(NAND, y=5, z="1"), "top")
    assert netlist.area(small) == 25
    assert netlist.constants == ("z",)
    assert Simulation(netlist, small, 4).cycle(VECTORS) == {"y": [0b1110], "z": [0b1111]}


def test_order_of_the_file_does_not_matter(small: Library) -> None:
    netlist = read_netlist(circuit({"v": ("NAND2", {"A": 5, "B": 5, "Y": 6}), **NAND}, y=6), "top")
    assert Simulation(netlist, small, 4).cycle(VECTORS) == {"y": [0b0001]}


def test_register_holds_for_a_cycle(small: Library) -> None:
    netlist = read_netlist(circuit({"r": ("DFF", {"CLK": 2, "D": 5, "Q": 6}), **NAND}, y=6), "top")
    simulation = Simulation(netlist, small, 4)
    assert [simulation.cycle(VECTORS)["y"][0], simulation.cycle(VECTORS)["y"][0]] == [0, 0b1110]


@pytest.mark.parametrize("pin", ["Q", "QN"])
def test_register_may_have_an_open_output(small: Library, pin: str) -> None:
    netlist = read_netlist(circuit({"r": ("DFFQ", {"CLK": 2, "D": 3, pin: 6})}, y=6), "top")
    simulation = Simulation(netlist, small, 4)
    found = [simulation.cycle(VECTORS)["y"][0], simulation.cycle(VECTORS)["y"][0]]
    assert found == ([0, 0b0011] if pin == "Q" else [0b1111, 0b1100])


@pytest.mark.parametrize(
    ("cells", "y", "message"),
    [
        ({"u": ("NOR2", {"A": 3, "Y": 5})}, 5, "every cell of a mapped netlist must be one of small.lib, got NOR2"),
        ({"u": ("NAND2", {"A": 3, "B": 5, "Y": 5})}, 5, "a netlist must have no loop, u is in one"),
        ({**NAND, "v": ("NAND2", {"A": 3, "B": 4, "Y": 5})}, 5, "every net must have one driver, net 5 has more"),
        ({"u": ("NAND2", {"A": 3, "B": 4, "Y": 3})}, 3, "every net must have one driver, net 3 has more"),
        ({"u": ("NAND2", {"A": 3, "B": "x", "Y": 5})}, 5, "every bit of a netlist must be a net, 0 or 1; u has 'x'"),
        ({"u": ("NAND2", {"A": 3, "B": 9, "Y": 5})}, 5, "every net must have one driver, net 9 has none"),
        (NAND, 7, "every net must have one driver, net 7 has none"),
        ({"r": ("DFF", {"CLK": 2, "D": 8, "Q": 6})}, 6, "every net must have one driver, net 8 has none"),
        ({"r": ("DFF", {"CLK": 3, "D": 4, "Q": 6})}, 6, "every register must have the clock clk, r has net 3"),
    ],
    ids=[
        "unknown cell",
        "loop",
        "two drivers",
        "driven input",
        "undefined",
        "floating",
        "floating output",
        "floating D",
        "clock",
    ],
)
def test_netlist_that_is_none_is_refused(small: Library, cells: Any, y: int, message: str) -> None:
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        Simulation(read_netlist(circuit(cells, y=y), "top"), small, 4)


def test_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(NetlistError, match=r"^the netlist must have a module other, got top$"):
        read_netlist(circuit(NAND, y=5), "other")


SDF = """\
(DELAYFILE
 (TIMESCALE 1ns)
 (CELL
  (CELLTYPE "NAND2")
  (INSTANCE u)
  (DELAY
   (ABSOLUTE
    (IOPATH A Y (0.100::0.125) (0.250::0.250))
    (IOPATH B Y (0.500::0.500) (0.250::0.250))
   )
  )
 )
)
"""


def netlist(cells: dict[str, tuple[str, dict[str, Any]]]) -> Netlist:
    """The result is net 9."""
    return read_netlist(circuit(cells, d=9), "top")


def gate(a: int, b: int, y: int) -> tuple[str, dict[str, Any]]:
    return "NAND2", {"A": a, "B": b, "Y": y}


def register(d: int, q: int) -> tuple[str, dict[str, Any]]:
    return "DFF", {"CLK": 2, "D": d, "Q": q}


# boundary 0: r from a, s from b; boundary 1: t from u(r, r), w from s at once; boundary 2: x from v(t, w)
CELLS = {
    "r": register(3, 10), "s": register(4, 11),
    "u": gate(10, 10, 12), "t": register(12, 13), "w": register(11, 14),
    "v": gate(13, 14, 15), "x": register(15, 9),
}  # fmt: skip
POINTS = ("operands", "decode", "encode")
ARCS = {("u", "A", "Y"): 1.0, ("u", "B", "Y"): 2.0, ("v", "A", "Y"): 0.5, ("v", "B", "Y"): 4.0}


def test_registers_stand_behind_each_other(small: Library) -> None:
    stages = netlist(CELLS).stages(small)
    assert [{cell.name for cell in stage} for stage in stages] == [{"r", "s"}, {"t", "w"}, {"x"}]


def test_segments_follow_the_paths(small: Library) -> None:
    """From operands to the result the path through u takes 2 + 0.5 and that past it 4, not 2 + 4."""
    found = segments_of(netlist(CELLS), small, ARCS, POINTS)
    rows = ((0.0, 2.0, 4.0), (0.0, 2.0, 4.0), (0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
    assert found == Segments(POINTS, rows, (2, 2, 1))


def test_arcs_are_the_longer_of_rise_and_fall() -> None:
    assert read_arcs(SDF) == {("u", "A", "Y"): 0.25, ("u", "B", "Y"): 0.5}


@pytest.mark.parametrize(("stated", "factor"), [("1ps", 1e-3), ("100 ps", 0.1), ("1us", 1e3)])
def test_delays_are_nanoseconds_whatever_unit_the_cells_have(stated: str, factor: float) -> None:
    found = read_arcs(SDF.replace("1ns", stated))
    assert {arc: round(delay, 9) for arc, delay in found.items()} == {
        ("u", "A", "Y"): round(0.25 * factor, 9), ("u", "B", "Y"): round(0.5 * factor, 9)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SDF.replace(" (TIMESCALE 1ns)\n", ""), "must state its unit of time, it states none"),
        ("(DELAYFILE (TIMESCALE 1ns))", "must have a path through a cell, it has none"),
    ],
)
def test_file_without_a_unit_of_time_or_delays_is_an_error(text: str, message: str) -> None:
    with pytest.raises(TimingError, match=f"^OpenSTA's file of delays {message}$"):
        read_arcs(text)


@pytest.mark.attack("a netlist with a boundary's registers left out, a path past one, or a cell whose delay is not stated")
@pytest.mark.parametrize(
    ("cells", "left_out", "message"),
    [
        ({**CELLS, "x": gate(15, 15, 9)}, (), "a register at each of 3 boundaries must give as many stages, got 2"),
        ({**CELLS, "v": gate(13, 10, 15)}, (), "a register at each of 3 boundaries must give as many stages, got 2"),
        (CELLS, ("u", "A", "Y"), "every path through a cell must have a delay, that of u from A to Y has none"),
    ],
)
def test_netlist_that_is_not_as_meant_is_an_error(
    cells: dict[str, Any], left_out: tuple[str, ...], message: str, small: Library
) -> None:
    arcs = {key: delay for key, delay in ARCS.items() if key != left_out}
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        segments_of(netlist(cells), small, arcs, POINTS)


def test_register_that_reads_across_a_boundary_is_an_error(small: Library) -> None:
    """x2 takes values of boundary 1 and of boundary 3 at once: it can stand behind neither."""
    cells = {**CELLS, "g": gate(13, 9, 16), "y": register(16, 17)}
    message = "no register must take values across a boundary, one of boundary 3 reads x"
    with pytest.raises(NetlistError, match=f"^{re.escape(message)}$"):
        segments_of(netlist(cells), small, {**ARCS, ("g", "A", "Y"): 1.0, ("g", "B", "Y"): 1.0}, POINTS)
