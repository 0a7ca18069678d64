"""A design as one flat circuit, of Yosys' `write_json`: cells, drivers, names, places in the source; and those of its
storage elements that are no registers of the one clock."""

import re
from collections.abc import Iterator, Mapping, Sequence
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


BITWISE = ("$and", "$or", "$xor", "$xnor", "$not", "$pos", "$buf")
"""Kinds of cells in which each bit of the result depends only on the operands' bits at its place."""

_REPORTS = ("$check", "$print", "$assert", "$assume", "$cover", "$live", "$fair")


class FlatCircuit:
    """A flat module, seen through its buffers and its choices between equal bits.

    Attributes:
        module: as `write_json` has it. cells: the cells that compute or hold. names: names of nets, by bit. driver: cell
            of each bit.
    """

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.module = module
        self.cells = [cell for cell in module["cells"].values() if cell["type"] not in _REPORTS]
        self.names = names_of(module)
        self._same = dict[Any, Any]()
        for cell in self.cells:
            ports = cell["connections"]
            if cell["type"] == "$buf":
                self._same.update(zip(ports["Y"], ports["A"], strict=True))
        self._join_equal_choices()
        self._inputs = dict[int, list[tuple[str, list[Any]]]]()
        self.driver = {bit: cell for cell in self.cells for bit in self.outputs(cell)}

    def _join_equal_choices(self) -> None:
        """A choice of one bit, whatever the condition, is that bit."""
        choices = [cell["connections"] for cell in self.cells if cell["type"] == "$mux"]
        bits = [(y, a, b) for ports in choices for y, a, b in zip(ports["Y"], ports["A"], ports["B"], strict=True)]
        count = -1
        while count != len(self._same):
            count = len(self._same)
            for y, a, b in bits:
                one, other = self.through([a, b])
                if one == other:
                    self._same[y] = one

    def inputs(self, cell: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
        """The input ports of a cell with their bits, before all buffers."""
        if id(cell) not in self._inputs:
            ports, directions = cell["connections"], cell["port_directions"]
            self._inputs[id(cell)] = [(port, self.through(ports[port])) for port in ports if directions[port] == "input"]
        return self._inputs[id(cell)]

    def outputs(self, cell: Mapping[str, Any]) -> list[Any]:
        """The output bits of a cell."""
        directions = cell["port_directions"]
        return [bit for port, bits in cell["connections"].items() if directions[port] == "output" for bit in bits]

    def through(self, bits: Sequence[Any]) -> list[Any]:
        """The given bits, each traced back through buffers to the bit that drives them."""
        found = list(bits)
        for place, bit in enumerate(found):
            while bit in self._same:
                bit = self._same[bit]
            found[place] = bit
        return found

    def place(self, cell: Mapping[str, Any]) -> str:
        """The name of a cell's result with file and line."""
        names = [self.names[bit] for bit in self.outputs(cell) if bit in self.names]
        return f"{names[0] if names else 'a value'} at {self.source(cell)}"

    def source(self, cell: Mapping[str, Any]) -> str:
        """The file and line of a cell."""
        file, _, place = cell.get("attributes", {}).get("src", "").partition("|")[0].rpartition(":")
        return f"{file.rpartition('/')[2]}:{place.partition('.')[0]}"
