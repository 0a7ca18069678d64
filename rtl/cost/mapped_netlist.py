"""Compares a unit's mapped netlist with its golden model, so that an area is that of the right circuit."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from golden import Unit
from golden.comparison import differing
from golden.stimulus import Operands, OperandShape, generate
from golden.units.controls import MASK, METADATA, OPERANDS
from golden.units.selection import CODE_BITS
from golden.units.unit import Choice
from rtl.cost.liberty import Cell, Library
from rtl.designs.ports import CLOCK, HANDSHAKE

CONSTANTS = ("0", "1")


class NetlistError(ValueError):
    """A netlist that is not what synthesis should have written."""


@dataclass(frozen=True)
class Placed:
    """A cell where it stands in a netlist, with the nets of its pins.

    Attributes:
        name: name of the instance.
        kind: name of the library's cell.
        nets: net that each pin is connected to: the number of a net, or "0" or "1".
    """

    name: str
    kind: str
    nets: Mapping[str, int | str]


@dataclass(frozen=True)
class Netlist:
    """A unit mapped to the cells of a library, as one flat netlist.

    Attributes:
        inputs, outputs: nets of every port, bit 0 first.
        cells: all cells.
    """

    inputs: Mapping[str, tuple[int | str, ...]]
    outputs: Mapping[str, tuple[int | str, ...]]
    cells: tuple[Placed, ...]

    @property
    def constants(self) -> tuple[str, ...]:
        """Output bits that never change, as Verilog names them."""
        return tuple(
            f"{name}[{i}]" if len(nets) > 1 else name
            for name, nets in self.outputs.items()
            for i, net in enumerate(nets)
            if net in CONSTANTS
        )

    def stages(self, library: Library) -> tuple[tuple[Placed, ...], ...]:
        """The registers that operands reach, by stage: those that operands reach directly, then those behind one register,
        and so on.

        Registers of the handshake, which no operand reaches, are in no stage.

        Raises:
            NetlistError: a cell that the library does not have.
        """
        readers: dict[int | str, list[Placed]] = {}
        for cell in self.cells:
            for pin, net in cell.nets.items():
                if pin not in cell_of(library, cell.kind).functions:
                    readers.setdefault(net, []).append(cell)
        seen: set[str] = set()
        stages: list[tuple[Placed, ...]] = []
        waiting = [net for name, nets in self.inputs.items() if name not in {*CLOCK, *HANDSHAKE} for net in nets]
        while waiting:
            stage: list[Placed] = []
            while waiting:
                for cell in readers.get(waiting.pop(), []):
                    if cell.name in seen:
                        continue
                    seen.add(cell.name)
                    of = cell_of(library, cell.kind)
                    if of.register is not None:
                        stage.append(cell)
                    else:
                        waiting += [cell.nets[pin] for pin in of.functions if pin in cell.nets]
            waiting = [cell.nets[pin] for cell in stage for pin in library.cells[cell.kind].functions if pin in cell.nets]
            stages += [tuple(stage)] if stage else []
        return tuple(stages)

    def area(self, library: Library) -> float:
        """The sum of the cells' areas (µm²).

        Raises:
            NetlistError: a cell that the library does not have.
        """
        counts = Counter(cell.kind for cell in self.cells)
        return sum(count * cell_of(library, kind).area for kind, count in sorted(counts.items()))


def cell_of(library: Library, kind: str) -> Cell:
    """The library's cell of a name.

    Raises:
        NetlistError: the library has no such cell.
    """
    if kind not in library.cells:
        raise NetlistError(f"every cell of a mapped netlist must be one of {library.name}, got {kind}")
    return library.cells[kind]


def samples(register: Placed, library: Library) -> dict[str, int | str]:
    """The pins by which a register samples its next state, with their nets.

    Raises:
        NetlistError: a cell that the library does not have, or that is not a register.
    """
    of = cell_of(library, register.kind)
    if of.register is None:
        raise NetlistError(f"{register.name} must be a register, it is {register.kind}")
    return {pin: net for pin, net in register.nets.items() if pin not in of.functions and pin != of.register.clock}


def read_netlist(text: str, top: str) -> Netlist:
    """Read a module from the output of Yosys' `write_json`.

    Raises:
        NetlistError: no such module, or a constant that is neither 0 nor 1.
    """
    modules = json.loads(text)["modules"]
    if top not in modules:
        raise NetlistError(f"the netlist must have a module {top}, got {', '.join(modules) or 'none'}")
    ports: dict[str, dict[str, tuple[int | str, ...]]] = {"input": {}, "output": {}}
    for name, port in modules[top]["ports"].items():
        ports[port["direction"]][name] = tuple(_net(name, bit) for bit in port["bits"])
    cells = []
    for name, cell in modules[top]["cells"].items():
        nets = {pin: _net(name, bits[0]) for pin, bits in cell["connections"].items() if len(bits) == 1}
        if len(nets) != len(cell["connections"]):
            raise NetlistError(f"pins of a mapped netlist must be one bit wide, those of {name} ({cell['type']}) are not")
        cells.append(Placed(name, cell["type"], nets))
    return Netlist(ports["input"], ports["output"], tuple(cells))


def _net(where: str, bit: Any) -> int | str:
    if not isinstance(bit, int) and bit not in CONSTANTS:
        raise NetlistError(f"every bit of a netlist must be a net, 0 or 1; {where} has {bit!r}")
    return bit  # type: ignore[no-any-return]


class Simulation:
    """Simulates a netlist on many vectors at once. Registers start at 0.

    A plane is an integer that holds one bit of every vector: the bit of vector i in bit i.

    Args:
        vectors: number of vectors that are computed at once.

    Raises:
        NetlistError: a cell that the library does not have, a loop, a net without a driver or with several, or a register
            with another clock than the input clk.
    """

    def __init__(self, netlist: Netlist, library: Library, vectors: int) -> None:
        self._netlist, self._mask = netlist, (1 << vectors) - 1
        placed = [(cell, cell_of(library, cell.kind)) for cell in netlist.cells]
        drivers = Counter(net for nets in netlist.inputs.values() for net in nets)
        drivers += Counter(cell.nets[pin] for cell, of in placed for pin in of.functions if pin in cell.nets)
        if several := [net for net, count in drivers.items() if count > 1 or net in CONSTANTS]:
            raise NetlistError(f"every net must have one driver, net {several[0]} has more")
        used = {net for nets in netlist.outputs.values() for net in nets}
        used |= {net for cell, of in placed for pin, net in cell.nets.items() if pin not in of.functions}
        if floating := [net for net in used if net not in drivers and net not in CONSTANTS]:
            raise NetlistError(f"every net must have one driver, net {floating[0]} has none")
        self._registers = [(cell, of, of.register) for cell, of in placed if of.register is not None]
        clock = netlist.inputs.get("clk", ())
        for cell, _, register in self._registers:
            if cell.nets[register.clock] not in clock:
                raise NetlistError(
                    f"every register must have the clock clk, {cell.name} has net {cell.nets[register.clock]}"
                )
        self._states = [0] * len(self._registers)
        self._gates = _in_order([pair for pair in placed if pair[1].register is None])
        #: The planes of all nets in the last cycle.
        self.nets: dict[int | str, int] = {}

    @property
    def sources(self) -> list[int | str]:
        """The nets that inputs and registers drive."""
        held = [cell.nets[pin] for cell, of, _ in self._registers for pin in of.functions if pin in cell.nets]
        return [net for nets in self._netlist.inputs.values() for net in nets] + held

    @cached_property
    def readers(self) -> dict[int | str, list[int]]:
        """The gates, by their place, that read each net."""
        found: dict[int | str, list[int]] = {}
        for place, (cell, of) in enumerate(self._gates):
            for pin, net in cell.nets.items():
                if pin not in of.functions:
                    found.setdefault(net, []).append(place)
        return found

    def outputs_of(self, place: int, nets: Mapping[int | str, int]) -> dict[int | str, int]:
        """The planes of the nets that a gate drives, from those of its inputs."""
        cell, of = self._gates[place]
        pins = {pin: nets[net] for pin, net in cell.nets.items() if pin not in of.functions}
        return {cell.nets[pin]: function(pins, self._mask) for pin, function in of.functions.items() if pin in cell.nets}

    def cycle(self, inputs: Mapping[str, list[int]]) -> dict[str, list[int]]:
        """Compute the planes of every output, bit 0 first, then let the registers take their next state, as at a clock edge.

        Args:
            inputs: planes of every input, bit 0 first; those of the clock are ignored.
        """
        nets: dict[int | str, int] = {"0": 0, "1": self._mask}
        for name, numbers in self._netlist.inputs.items():
            nets.update(zip(numbers, inputs[name], strict=True))
        for (cell, of, register), state in zip(self._registers, self._states, strict=True):
            held = dict(zip(register.names, (state, state ^ self._mask), strict=True))
            outputs = ((pin, function) for pin, function in of.functions.items() if pin in cell.nets)
            nets.update((cell.nets[pin], function(held, self._mask)) for pin, function in outputs)
        for place in range(len(self._gates)):
            nets |= self.outputs_of(place, nets)
        self.nets = nets
        self._states = [
            register.next_state({pin: nets[net] for pin, net in cell.nets.items()}, self._mask)
            for cell, _, register in self._registers
        ]
        return {name: [nets[net] for net in numbers] for name, numbers in self._netlist.outputs.items()}


def _in_order(gates: list[tuple[Placed, Cell]]) -> list[tuple[Placed, Cell]]:
    """The gates ordered so that each comes after those that drive it."""
    driver = {cell.nets[pin]: place for place, (cell, of) in enumerate(gates) for pin in of.functions if pin in cell.nets}
    before = {
        place: {driver[net] for pin, net in cell.nets.items() if pin not in of.functions and net in driver}
        for place, (cell, of) in enumerate(gates)
    }
    try:
        return [gates[place] for place in TopologicalSorter(before).static_order()]
    except CycleError as error:
        raise NetlistError(f"a netlist must have no loop, {gates[error.args[1][0]][0].name} is in one") from None


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
    """Compute vectors of the unit's stimulus with the netlist and with the golden model, in each mode of its controls.

    Args:
        latency: cycles from operands to result, 0 if the netlist is combinational.
        vectors: number of vectors of a mode; with a clock they follow each other in `CYCLES` cycles.

    Raises:
        NetlistError: a result differs, or comes at the wrong time.
    """
    for choice, step in chosen_steps(unit):
        _check_mode(netlist, library, choice, step, latency, vectors)


def chosen_steps(unit: Unit) -> list[tuple[Choice, Unit]]:
    """Each choice of a unit's controls, with the step that it chooses, whose controls are operands."""
    kept = tuple(control for control in unit.controls if control.key in OPERANDS)
    return [(choice, replace(choice.unit, controls=kept).step) for choice in unit.choices]


def _check_mode(netlist: Netlist, library: Library, choice: Choice, unit: Unit, latency: int, vectors: int) -> None:
    operands = generate(OperandShape.of(unit, unit.usual_K), vectors, seed=0).operands
    given, driven = driven_by(choice, unit, operands)
    expected = unit.dot(**given)
    groups = [np.arange(start, vectors, CYCLES) for start in range(CYCLES)] if latency else [np.arange(vectors)]
    simulation = Simulation(netlist, library, len(groups[0]))
    everywhere = (1 << len(groups[0])) - 1
    if latency:
        simulation.cycle(driven_inputs(netlist, {"rst": [everywhere]}))
    for cycle in range(len(groups) + latency):
        ports: dict[str, list[int]] = {}
        if cycle < len(groups):
            rows = groups[cycle]
            ports = {name: Bits(bits.width, bits.codes[rows]).planes() for name, bits in driven.items()}
            ports |= {"in_valid": [everywhere]}
        found = simulation.cycle(driven_inputs(netlist, ports | {"out_ready": [everywhere]}))
        if latency and found["out_valid"] != [everywhere if cycle >= latency else 0]:
            raise NetlistError(f"{unit.name}: the mapped netlist must give results from cycle {latency} on, not in {cycle}")
        if cycle >= latency:
            rows = groups[cycle - latency]
            _compare(unit, _codes(found["d"], len(rows)), expected[rows], operands.rows(rows))


def driven_by(choice: Choice, unit: Unit, operands: Operands) -> tuple[dict[str, Any], dict[str, Bits]]:
    """What `dot` takes for rows, the operands that `[controls]` add drawn, by argument; and what drives each port.

    Args:
        choice, unit: as `chosen_steps` gives them.
    """
    given = operands._asdict() | unit.drawn_inputs(operands.b, np.random.default_rng(0))
    operation = unit.operation
    formats = {name: getattr(operation, name) for name in operation.operands}
    formats |= dict.fromkeys(operation.scale_operands, operation.scale_format)
    widths = {MASK: 1, METADATA: CODE_BITS} | {f"zero_{name}": formats[name].width for name in unit.zeros}
    inputs = {control.key: (control.port, widths.get(control.key, control.width)) for control in unit.controls}
    ports = {port: Bits(max(1, code.bit_length()), np.full(len(operands.a), code)) for port, code in choice.codes.items()}
    for name, codes in given.items():
        if name in inputs:
            port, width = inputs[name]
            ports[port] = Bits(width, codes)
        elif codes is not None and name in formats:
            source, operand = choice.source(name), formats[name]
            ports[source.port] = Bits(operand.width, codes ^ codes.dtype.type(operand.negative_zero * source.is_negated))
    return given, ports


def driven_inputs(netlist: Netlist, ports: dict[str, list[int]]) -> dict[str, list[int]]:
    """The netlist's inputs; 0 for a bit that nothing drives."""
    found = {name: ports.get(name, []) for name in netlist.inputs}
    return {name: planes + [0] * (len(netlist.inputs[name]) - len(planes)) for name, planes in found.items()}


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
