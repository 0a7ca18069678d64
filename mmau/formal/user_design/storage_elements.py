"""The storage elements of a design: registers of one clock, reset by its reset or by other registers."""

import re
from collections.abc import Mapping
from typing import Any

from cosim.dut.description import Dut
from mmau.formal.user_design.not_compared import NotCompared

REGISTERS = {
    "$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce", "$aldff", "$aldffe", "$dffsr", "$dffsre",
}  # fmt: skip

ASYNCHRONOUS = ("ARST", "ALOAD", "SET", "CLR")
"""Ports of a register that act without an edge of the clock."""

STATEFUL = re.compile(r"^\$(.*dff.*|ff|sr|.*latch.*|mem.*|fsm|.*_?DFF.*)$")

WIRES = ("$not", "$logic_not", "$buf", "$pos", "$reduce_bool", "$reduce_or")
"""Cells of one bit between the reset and a register, which have no hazard."""


def check_registers(module: Mapping[str, Any], dut: Dut) -> None:
    """Check every storage element of a module of `write_json`.

    Raises:
        NotCompared: one that is no register at the rising edge of the clock itself, or that data set or reset without the
            clock, so that a hazard may.
    """
    clock = module["ports"].get("clk", {}).get("bits")
    sources = _drivers(module)
    for name, cell in module["cells"].items():
        kind = cell["type"]
        if not kind.startswith("$"):
            raise NotCompared(f"{name} is a {kind}, a kind of cell that the proof does not know")
        if kind not in REGISTERS:
            if STATEFUL.match(kind):
                raise NotCompared(f"{name} holds a value but is not a register of the one clock")
            continue
        if dut.protocol == "combinational":
            raise NotCompared(f"{name} is a register, in a design that is called combinational")
        rises = int(str(cell["parameters"]["CLK_POLARITY"]), 2) == 1
        if cell["connections"]["CLK"] != clock or not rises:
            raise NotCompared(f"{name} takes its value at another moment than the rising edge of {dut.clock}")
        for port in ASYNCHRONOUS:
            for bit in cell["connections"].get(port, []):
                if not _is_reset(bit, module, sources):
                    raise NotCompared(f"{name} is set or reset without the clock, and not by the reset itself")


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
