"""Compares a unit's mapped netlist with its golden model, so that an area is that of the right circuit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden import Unit
from golden.comparison import differing
from golden.stimulus import OperandShape, generate
from rtl.cost.liberty import Library
from rtl.cost.mapped_netlist import Netlist, NetlistError, Simulation

CYCLES = 4
"""Number of operands that follow each other through a pipeline in one simulation."""


@dataclass(frozen=True)
class Bits:
    """The codes of a port, and the number of bits of each code."""

    width: int
    codes: Any

    def planes(self) -> list[int]:
        """The planes of the port: an integer for each bit, whose bit i belongs to row i."""
        codes = np.asarray(self.codes).astype(np.uint64).reshape(len(self.codes), -1)
        bits = (codes[:, :, None] >> np.arange(self.width, dtype=np.uint64)) & np.uint64(1)
        rows = np.packbits(bits.reshape(len(codes), -1).T.astype(np.uint8), axis=1, bitorder="little")
        return [int.from_bytes(row.tobytes(), "little") for row in rows]


def check_netlist(netlist: Netlist, library: Library, unit: Unit, latency: int, vectors: int) -> None:
    """Compute vectors of the unit's stimulus with the netlist and with the golden model.

    Args:
        latency: cycles from operands to result, 0 if the netlist is combinational.
        vectors: number of vectors; with a clock they follow each other in `CYCLES` cycles.

    Raises:
        NetlistError: a result differs, or comes at the wrong time.
    """
    unit = unit.step
    operands = generate(OperandShape.of_unit(unit), vectors, seed=0).operands
    expected = unit.dot(*operands)
    groups = [np.arange(start, vectors, CYCLES) for start in range(CYCLES)] if latency else [np.arange(vectors)]
    simulation = Simulation(netlist, library, len(groups[0]))
    everywhere = (1 << len(groups[0])) - 1
    driven = {name: values for name, values in zip(operands._fields, operands, strict=True) if values is not None}
    if latency:
        simulation.cycle(_inputs(netlist, {"rst": [everywhere]}))
    for cycle in range(len(groups) + latency):
        ports: dict[str, list[int]] = {}
        if cycle < len(groups):
            rows = groups[cycle]
            ports = {name: Bits(_width(unit, name), values[rows]).planes() for name, values in driven.items()}
            ports |= {"in_valid": [everywhere]}
        found = simulation.cycle(_inputs(netlist, ports | {"out_ready": [everywhere]}))
        if latency and found["out_valid"] != [everywhere if cycle >= latency else 0]:
            raise NetlistError(f"{unit.name}: the mapped netlist must give results from cycle {latency} on, not in {cycle}")
        if cycle >= latency:
            rows = groups[cycle - latency]
            _compare(unit, _codes(found["d"], len(rows)), expected[rows], operands.rows(rows))


def _width(unit: Unit, port: str) -> int:
    operation = unit.operation
    if port.startswith("scale"):
        assert operation.scale_format is not None
        return operation.scale_format.width
    return {"a": operation.a, "b": operation.b, "c": operation.c}[port].width


def _inputs(netlist: Netlist, ports: dict[str, list[int]]) -> dict[str, list[int]]:
    """The netlist's inputs; 0 for an input that no operand drives."""
    return {name: ports.get(name, [0] * len(nets)) for name, nets in netlist.inputs.items()}


def _codes(planes: list[int], rows: int) -> Any:
    """The codes in the bit planes of d."""
    stacked = [np.frombuffer(plane.to_bytes(-(-rows // 8), "little"), np.uint8) for plane in planes]
    bits = np.unpackbits(np.stack(stacked), axis=1, count=rows, bitorder="little").astype(np.uint64)
    return (bits << np.arange(len(planes), dtype=np.uint64)[:, None]).sum(axis=0)


def _compare(unit: Unit, got: Any, expected: Any, operands: Any) -> None:
    different = np.flatnonzero(differing(got.astype(expected.dtype), expected, unit.operation))
    if len(different):
        row = int(different[0])
        raise NetlistError(
            f"{unit.name}: the mapped netlist must compute what the golden model does; {len(different)} of {len(got)} "
            f"results differ, the first is {int(got[row]):#x} and should be {int(expected[row]):#x}"
        )
