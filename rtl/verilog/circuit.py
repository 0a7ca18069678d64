"""A module of Verilog as terms: what its outputs are of its inputs, worked out when it is asked for.

A register is a free variable, the state before a clock edge; or, where a circuit is transparent, it is the wire before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from rtl.verilog.expressions import Expressions, NoTerm
from rtl.verilog.syntax import Assignment, Concatenation, Instance, Module, Operand, Slice
from rtl.verilog.terms import Bits, Terms

Seen = Callable[[str, str, Bits], Bits]
"""Called with each output of an instance: its module, its path and port, and what it is; what it gives goes on."""


Unopened = Callable[[str, str, int], Bits | None]
"""Called before an output of an instance is worked out, with its module, its path and port, and its width; where it gives
bits, these go on, and the instance is not looked into."""


Driven = Callable[[str, Bits], Bits]
"""Called with what a statement gives to bits of a wire: path and name with these bits, and what it is."""


def as_it_is(module: str, name: str, bits: Bits) -> Bits:
    """A `Seen` that changes nothing."""
    return bits


def opened(module: str, name: str, width: int) -> None:
    """An `Unopened` that leaves no instance out."""


def as_driven(name: str, bits: Bits) -> Bits:
    """A `Driven` that changes nothing."""
    return bits


@dataclass(frozen=True)
class Setting:
    """What all circuits of one file share.

    Attributes:
        terms: where terms are made. modules: of the file.
        transparent: whether registers are wires. held: registers of the top module that hold a value.
        states: the variable of each register, by path and name: those of circuits with one table begin in one state.
        seen: sees the outputs of instances. driven: sees what statements give to wires.
        unopened: which instances are not looked into.
    """

    terms: Terms
    modules: Mapping[str, Module]
    transparent: bool = False
    held: Mapping[str, Bits] = field(default_factory=dict)
    states: dict[str, Bits] = field(default_factory=dict)
    seen: Seen = as_it_is
    driven: Driven = as_driven
    unopened: Unopened = opened


class Circuit:
    """A module with values at its inputs.

    Args:
        setting: what it shares with others. module: what it is. inputs: what its input ports hold.
        path: of instances from the top, each with a dot.
    """

    def __init__(self, setting: Setting, module: Module, inputs: Mapping[str, Callable[[], Bits]], path: str = "") -> None:
        self._setting, self._module, self._path = setting, module, path
        self._terms, self._inputs = setting.terms, {name: _Once(module.name, make) for name, make in inputs.items()}
        self._expressions = Expressions(setting.terms, self._slice, module.signed)
        self._parts: dict[str, Circuit] = {}
        self._drivers: dict[str, list[tuple[int, int, Callable[[], Bits]]]] = {}
        for assignment in module.assignments:
            self._drive(assignment.target, partial(self._assigned, assignment))
        for register in module.registers:
            self._drive(register.target, partial(self._register, register))
        for instance in module.instances:
            self._connect(instance)

    def wire(self, name: str) -> Bits:
        """What a wire holds.

        Raises:
            NoTerm: it depends on itself, or on a statement that has no term.
        """
        return self._bits(name, self._module.width(name) - 1, 0)

    def inside(self, name: str) -> "Circuit":
        """The circuit of an instance.

        Raises:
            NoTerm: there is none of that name.
        """
        for instance in self._module.instances:
            if instance.name == name:
                return self._part(instance)
        raise NoTerm(f"{self._module.name} has no instance {name}")

    def into(self, instance: Instance) -> dict[str, Bits]:
        """What the input ports of an instance hold, as far as they are connected."""
        of = self._setting.modules[instance.module]
        return {
            connection.port: self._expressions.operand(connection.operand, of.width(connection.port))
            for connection in instance.connections
            if of.directions[connection.port] == "input" and connection.operand is not None
        }

    def outputs(self) -> dict[str, Bits]:
        """What the output ports hold."""
        return {name: self.wire(name) for name, side in self._module.directions.items() if side == "output"}

    def next_states(self) -> dict[str, Bits]:
        """What every register holds after the next clock edge, by path and name, those of instances too."""
        found = {
            f"{self._path}{register.target.text.strip()}": self._assigned(register) for register in self._module.registers
        }
        for instance in self._module.instances:
            found |= self._part(instance).next_states()
        return found

    def _assigned(self, assignment: Assignment) -> Bits:
        return self._expressions.value(assignment.expression, assignment.target.width)

    def _register(self, register: Assignment) -> Bits:
        name = register.target.text.strip()
        if not self._path and name in self._setting.held:
            return self._setting.held[name]
        if self._setting.transparent:
            return self._assigned(register)
        return self._setting.states.setdefault(f"{self._path}{name}", self._terms.free(name, register.target.width))

    def _drive(self, target: Operand, make: Callable[[], Bits]) -> None:
        """Note which bits a statement gives: the first part of a concatenation has the highest."""
        place, once = target.width, _Once(self._module.name, make)
        for part in target.parts if isinstance(target, Concatenation) else (target,):
            place -= part.width
            if not isinstance(part, Slice):
                raise NoTerm(f"{part.text} is assigned in {self._module.name}")
            if self._module.directions.get(part.name) == "input":
                raise NoTerm(f"{part.name}, an input of {self._module.name}, is driven inside of it")
            bottom = min(self._offset(part.name, part.low), self._offset(part.name, part.high))
            name = f"{self._path}{part.name}[{bottom + part.width - 1}:{bottom}]"
            piece = partial(self._part_of, once, place + part.width - 1, place, name)
            drivers = self._drivers.setdefault(part.name, [])
            if any(bottom < other + width and other < bottom + part.width for other, width, _ in drivers):
                raise NoTerm(f"bits of {part.name} in {self._module.name} are driven twice")
            drivers.append((bottom, part.width, piece))

    def _part_of(self, make: Callable[[], Bits], high: int, low: int, name: str) -> Bits:
        return self._setting.driven(name, self._terms.part(make(), high, low))

    def _offset(self, name: str, bit: int) -> int:
        """The place of a declared bit, from 0."""
        high, low = self._module.ranges[name]
        return bit - low if high >= low else low - bit

    def _connect(self, instance: Instance) -> None:
        """What the outputs of an instance are connected to is driven by it."""
        of = self._setting.modules.get(instance.module)
        if of is None:
            raise NoTerm(f"{instance.module} is not in the file")
        for connection in instance.connections:
            port, operand = connection.port, connection.operand
            if port not in of.directions:
                raise NoTerm(f"{instance.name} is connected at {port}, which {instance.module} has not")
            if operand is None:
                continue
            if operand.width != of.width(port):  # simulators do not agree on how it is extended
                raise NoTerm(f"{instance.name}.{port} has {of.width(port)} bits and is connected to {operand.width}")
            if of.directions[port] != "input":
                self._drive(operand, partial(self._output, instance, port))

    def _output(self, instance: Instance, port: str) -> Bits:
        name = f"{self._path}{instance.name}.{port}"
        given = self._setting.unopened(instance.module, name, self._setting.modules[instance.module].width(port))
        if given is not None:
            return given
        return self._setting.seen(instance.module, name, self._part(instance).wire(port))

    def _part(self, instance: Instance) -> "Circuit":
        """The circuit of an instance."""
        if instance.name not in self._parts:
            of = self._setting.modules[instance.module]
            inputs = {
                connection.port: partial(self._expressions.operand, connection.operand, of.width(connection.port))
                for connection in instance.connections
                if of.directions[connection.port] == "input" and connection.operand is not None
            }
            self._parts[instance.name] = Circuit(self._setting, of, inputs, f"{self._path}{instance.name}.")
        return self._parts[instance.name]

    def _slice(self, operand: Slice) -> Bits:
        ends = self._offset(operand.name, operand.high), self._offset(operand.name, operand.low)
        return self._bits(operand.name, max(ends), min(ends))

    def _bits(self, name: str, high: int, low: int) -> Bits:
        """Bits of a wire, counted from 0."""
        if self._module.directions.get(name) == "input":
            if name not in self._inputs:
                raise NoTerm(f"{name} of {self._module.name} is not connected")
            return self._terms.part(self._inputs[name](), high, low)
        pieces, place = [], high
        while place >= low:
            for bottom, width, make in self._drivers.get(name, ()):
                if bottom <= place < bottom + width:
                    lowest = max(bottom, low)
                    pieces.append(self._terms.part(make(), place - bottom, lowest - bottom))
                    place = lowest - 1
                    break
            else:
                raise NoTerm(f"bit {place} of {name} in {self._module.name} is not driven")
        return self._terms.joined(pieces)


class _Once:
    """Works something out the first time it is asked for."""

    def __init__(self, module: str, make: Callable[[], Bits]) -> None:
        self._module, self._make = module, make
        self._bits: Bits | None = None
        self._is_under_way = False

    def __call__(self) -> Bits:
        if self._bits is None:
            if self._is_under_way:
                raise NoTerm(f"a loop in {self._module}")
            self._is_under_way = True
            try:
                self._bits = self._make()
            finally:
                self._is_under_way = False
        return self._bits
