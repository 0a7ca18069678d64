"""A design as one flat circuit, of Yosys' `write_json`: cells, drivers, names, places in the source."""

from collections.abc import Mapping, Sequence
from typing import Any

from cosim.lint.storage_elements import names_of

BITWISE = ("$and", "$or", "$xor", "$xnor", "$not", "$pos", "$buf")
"""Kinds of cells in which each bit of the result depends only on the operands' bits at its place."""

_REPORTS = ("$check", "$print", "$assert", "$assume", "$cover", "$live", "$fair")


class FlatCircuit:
    """A flat module.

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
