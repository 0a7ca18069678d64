"""Operands and registers of a pipeline of fixed latency through which results may depend on other cycles than their own."""

from collections.abc import Mapping, Set
from typing import Any

from cosim.lint.flat_circuit import BITWISE, FlatCircuit

CONTROLS = ("clk", "rst", "en")
"""Ports that are no operands."""

MOST_CELLS = 64
"""Number of cells before a condition through which controls are followed."""


def of_other_cycles(circuit: FlatCircuit, latency: int) -> list[str]:
    """The operands that reach a result through more or fewer registers than the latency, and the registers that stand in
    front of that many: an earlier operand, what is kept, or what is there at power-up.

    Args:
        latency: number of registers between an operand and its result.
    """
    ports = circuit.module["ports"]
    controls = {bit for name in CONTROLS if name in ports for bit in ports[name]["bits"]}
    operands = {
        bit: name
        for name, port in ports.items()
        if port["direction"] == "input" and name not in CONTROLS
        for bit in port["bits"]
    }
    written = {cell["parameters"]["MEMID"] for cell in circuit.cells if cell["type"].startswith("$memwr")}
    waiting = [(bit, 0) for port in ports.values() if port["direction"] == "output" for bit in port["bits"]]
    seen, found = set[tuple[Any, int]](), list[str]()
    while waiting:
        given, behind = waiting.pop()
        (bit,) = circuit.through([given])
        if isinstance(bit, str) or bit in controls or (bit, behind) in seen:
            continue
        seen.add((bit, behind))
        cell = circuit.driver.get(bit)
        if bit in operands:
            found += [operands[bit]] if behind != latency else []
        elif cell is None:
            continue
        elif "Q" in cell["connections"] or cell.get("parameters", {}).get("MEMID") in written:
            if behind == latency or "D" not in cell["connections"]:
                found.append(circuit.names.get(bit, "a register"))
            else:
                waiting += [(each, behind + 1) for each in _loaded(circuit, cell, bit, controls)]
        else:
            waiting += [(each, behind) for each in _inputs_of(circuit, cell, bit)]
    return sorted(set(found))


def _inputs_of(circuit: FlatCircuit, cell: Mapping[str, Any], bit: Any) -> list[Any]:
    """The inputs on which a bit of a cell's result may depend."""
    ports = dict(circuit.inputs(cell))
    place, width = (
        cell["connections"]["Y"].index(bit) if "Y" in cell["connections"] else 0,
        len(cell["connections"].get("Y", ())),
    )
    if cell["type"] in ("$mux", "$pmux"):
        return [ports["A"][place], *ports["B"][place::width], *ports["S"]]
    if cell["type"] in BITWISE and all(len(word) == width for word in ports.values()):
        return [word[place] for word in ports.values()]
    return [each for word in ports.values() for each in word]


def _loaded(circuit: FlatCircuit, register: Mapping[str, Any], bit: Any, controls: Set[Any]) -> list[Any]:
    """The bits that a bit of a register takes, without what resets it or holds it while it is not enabled."""
    place = register["connections"]["Q"].index(bit)
    ports = dict(circuit.inputs(register))
    waiting, found = [ports["D"][place]], [each for port in ("EN", "SRST") if port in ports for each in ports[port]]
    for _ in range(MOST_CELLS):
        if not waiting:
            break
        data = waiting.pop()
        cell = circuit.driver.get(data)
        if cell is not None and cell["type"] == "$mux":
            inner = dict(circuit.inputs(cell))
            index = cell["connections"]["Y"].index(data)
            if _is_control(circuit, inner["S"][0], controls):
                waiting += [inner["A"][index], inner["B"][index]]
                continue
        found += [data] if data != bit else []
    return [*found, *waiting]


def _is_control(circuit: FlatCircuit, condition: Any, controls: Set[Any]) -> bool:
    """Whether a condition depends on resets and the enable alone, through registers too."""
    waiting, seen = [condition], set[Any]()
    while waiting:
        bit = waiting.pop()
        cell = circuit.driver.get(bit)
        if isinstance(bit, str) or bit in controls or bit in seen:
            continue
        seen.add(bit)
        if cell is None or len(seen) > MOST_CELLS:
            return False
        waiting += [each for _, word in circuit.inputs(cell) for each in word]
    return True
