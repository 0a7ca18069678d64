"""Netlists computed from the functions of their cells."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rtl.cost.liberty import Library, read_library
from rtl.cost.mapped_netlist import NetlistError, Simulation, read_netlist
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
