"""A circuit as Yosys writes it (`write_json`), flat, as terms: its outputs, and what its registers hold next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from formal.own.cells import Cell
from rtl.verilog.expressions import NoTerm
from rtl.verilog.terms import Bits, Terms

Bit = int | str
"""A net, or a constant: "0", "1"."""

IGNORED = {"$scopeinfo", "$check", "$print", "$assert", "$assume", "$cover"}
"""Cells without an output."""


@dataclass
class Circuit:
    """Terms of one cycle.

    Attributes:
        inputs: variables of the input ports. states: variables of the registers, by name.
        anything: variables that may hold anything at any time: what is undefined.
        outputs: of the output ports. after: what each register holds after the clock edge.
    """

    inputs: dict[str, Bits] = field(default_factory=dict)
    states: dict[str, Bits] = field(default_factory=dict)
    anything: list[Bits] = field(default_factory=list)
    outputs: dict[str, Bits] = field(default_factory=dict)
    after: dict[str, Bits] = field(default_factory=dict)


def read_circuit(terms: Terms, module: Mapping[str, Any]) -> Circuit:
    """A module of `write_json` without instances, whose registers are all $dff of one clock.

    Raises:
        NoTerm: a cell that has no term, a loop, or a net that nothing drives.
    """
    return _Reader(terms, module).circuit


class _Reader:
    def __init__(self, terms: Terms, module: Mapping[str, Any]) -> None:
        self._terms, self.circuit = terms, Circuit()
        self._drivers: dict[Bit, tuple[str, int]] = {}
        self._cells: dict[str, Mapping[str, Any]] = {}
        self._known: dict[str, Bits] = {}
        self._under_way: set[str] = set()
        registers = {}
        for name, port in module["ports"].items():
            if port["direction"] == "input":
                self._known[name] = self.circuit.inputs[name] = terms.free(name, len(port["bits"]))
                self._drive(name, port["bits"])
        for name, cell in module["cells"].items():
            if cell["type"] in IGNORED:
                continue
            output = next((port for port, side in cell["port_directions"].items() if side == "output"), None)
            if output is None:
                raise NoTerm(f"a cell {cell['type']} has no term")
            bits = cell["connections"][output]
            self._drive(f"cell {name}", bits)
            if cell["type"] == "$dff":
                registers[name] = cell
                self._known[f"cell {name}"] = self.circuit.states[name] = terms.free(f"register {name}", len(bits))
            else:
                self._cells[f"cell {name}"] = cell
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self.circuit.outputs[name] = self._word(port["bits"])
        for name, cell in registers.items():
            self.circuit.after[name] = self._word(cell["connections"]["D"])

    def _drive(self, driver: str, bits: Sequence[Bit]) -> None:
        for place, bit in enumerate(bits):
            if bit in self._drivers:
                raise NoTerm(f"net {bit} is driven twice")
            self._drivers[bit] = driver, place

    def _word(self, bits: Sequence[Bit]) -> Bits:
        """Nets side by side, the first one lowest; neighbours of one driver in one piece."""
        pieces, place = list[Bits](), 0
        while place < len(bits):
            start = place
            if bits[start] in ("0", "1"):
                while place < len(bits) and bits[place] in ("0", "1"):
                    place += 1
                value = int("".join(map(str, reversed(bits[start:place]))), 2)
                pieces.append(self._terms.number(value, place - start))
                continue
            if bits[start] not in self._drivers:
                raise NoTerm(f"net {bits[start]} is driven by nothing")
            driver, low = self._drivers[bits[start]]
            while place < len(bits) and self._drivers.get(bits[place]) == (driver, low + place - start):
                place += 1
            pieces.append(self._terms.part(self._value(driver), low + place - start - 1, low))
        return self._terms.joined(pieces[::-1])

    def _value(self, driver: str) -> Bits:
        if driver not in self._known:
            if driver in self._under_way:
                raise NoTerm(f"{driver} is in a loop")
            self._under_way.add(driver)
            cell = self._cells[driver]
            inputs, output = dict[str, Bits](), ""
            for port, side in cell["port_directions"].items():
                if side == "input":
                    inputs[port] = self._word(cell["connections"][port])
                else:
                    output = port
            parameters = {
                name: int(value, 2) for name, value in cell["parameters"].items() if set(value) <= {"0", "1"} and value
            }
            width = len(cell["connections"][output])
            self._known[driver] = Cell(self._terms, cell["type"], parameters, inputs, width, self._anything).value()
            self._under_way.remove(driver)
        return self._known[driver]

    def _anything(self, width: int) -> Bits:
        made = self._terms.free(f"anything {len(self.circuit.anything)}", width)
        self.circuit.anything.append(made)
        return made
