"""The storage elements of a design: registers of one clock, reset by its reset or by other registers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cosim.dut.elaborate import INSTANCE

REGISTERS = {
    "$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce", "$aldff", "$aldffe", "$dffsr", "$dffsre",
}  # fmt: skip

ASYNCHRONOUS = ("ARST", "ALOAD", "SET", "CLR")
"""Ports of a register that act without an edge of the clock."""

STATEFUL = re.compile(r"^\$(.*dff.*|ff|sr|.*latch.*|mem.*|fsm|.*_?DFF.*)$")

WIRES = ("$not", "$logic_not", "$buf", "$pos", "$reduce_bool", "$reduce_or")
"""Cells of one bit between the reset and a register, which have no hazard."""

MEMORY = re.compile(r"^\$mem(rd|wr|init)(_v2)?$")


def irregular_storage(module: Mapping[str, Any], is_combinational: bool) -> Iterator[tuple[str, str]]:
    """The storage elements of a flat module of `write_json` that are no registers at the rising edge of the clock itself, or
    that data set or reset without the clock, so that a hazard may: each by its name, and what is wrong with it.

    Args:
        is_combinational: whether the description says that the design has no registers.
    """
    clock = module["ports"].get("clk", {}).get("bits")
    sources, names = _drivers(module), names_of(module)
    for name, cell in module["cells"].items():
        kind, connections = cell["type"], cell["connections"]
        held = names.get(next(iter(connections.get("Q", ())), None), name)
        if not kind.startswith("$"):
            yield name, f"is a {kind}, a kind of cell that the proof does not know"
        elif kind not in REGISTERS and not _is_of_memory(clock, cell):
            if STATEFUL.match(kind):
                yield held, "holds a value but is not a register of the one clock"
        elif kind in REGISTERS:
            yield from ((held, what) for what in _irregularities(cell, clock, is_combinational, module, sources))


def _irregularities(
    cell: Mapping[str, Any],
    clock: Any,
    is_combinational: bool,
    module: Mapping[str, Any],
    sources: Mapping[Any, Mapping[str, Any]],
) -> Iterator[str]:
    """The faults of a register."""
    if is_combinational:
        yield "is a register, in a design that is called combinational"
        return
    rises = int(str(cell["parameters"]["CLK_POLARITY"]), 2) == 1
    if cell["connections"]["CLK"] != clock or not rises:
        yield "takes its value at another moment than the rising edge of the clock"
    if not all(_is_reset(bit, module, sources) for port in ASYNCHRONOUS for bit in cell["connections"].get(port, [])):
        yield "is set or reset without the clock, and not by the reset itself"


def _is_of_memory(clock: Any, cell: Mapping[str, Any]) -> bool:
    """Whether a cell is a part of a memory that nothing writes but the rising edge of the clock."""
    if not MEMORY.match(cell["type"]) or "init" in cell["type"]:
        return bool(MEMORY.match(cell["type"]))
    enabled, rises = (int(str(cell["parameters"][key]), 2) == 1 for key in ("CLK_ENABLE", "CLK_POLARITY"))
    return (rises and cell["connections"]["CLK"] == clock) if enabled else "rd" in cell["type"]


def names_of(module: Mapping[str, Any]) -> dict[Any, str]:
    """The name of each net that the design names, as within the design."""
    nets = [(name, net["bits"]) for name, net in module.get("netnames", {}).items() if not net["hide_name"]]
    nets.sort(key=lambda net: net[0].startswith(f"{INSTANCE}."))  # the wrapper's names give way
    return {bit: name.removeprefix(f"{INSTANCE}.") for name, bits in nets for bit in bits}


def _drivers(module: Mapping[str, Any]) -> dict[Any, Mapping[str, Any]]:
    """The cell that drives each net."""
    return {
        bit: cell
        for cell in module["cells"].values()
        for port, direction in cell["port_directions"].items()
        if direction == "output"
        for bit in cell["connections"][port]
    }


def _is_reset(bit: Any, module: Mapping[str, Any], sources: Mapping[Any, Mapping[str, Any]]) -> bool:
    """Whether a net is constant, the reset, its inverse, or the output of a register."""
    reset = module["ports"].get("rst", {}).get("bits", [])
    while not isinstance(bit, str) and bit not in reset:
        cell = sources.get(bit)
        if cell is None or cell["type"] in REGISTERS:
            return cell is not None
        if cell["type"] not in WIRES or len(cell["connections"]["A"]) != 1:
            return False
        bit = cell["connections"]["A"][0]
    return True
