"""A module as terms: its outputs as functions of its inputs, computed on demand.

A wire is computed from the wires before it by Python functions that call one another: a path of any number of wires needs
no stack of the machine.

A register is a free variable, the state before a clock edge; in a transparent circuit it is the wire before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mmau.prove.netlist.expressions import Expressions, NoTerm
from mmau.prove.netlist.syntax import Assignment, Concatenation, Constant, Instance, Module, Operand, Slice
from mmau.prove.netlist.terms import Bits, Terms

Seen = Callable[[str, str, Bits], Bits]
"""Called with each output of an instance: its module, its path and port, and its term; the returned term replaces it."""


Unopened = Callable[[str, str, int], Bits | None]
"""Function called before an output of an instance is computed, with the instance's module, path and port, and the output's
width. If it returns bits, these are the output, and the instance stays opaque."""


Driven = Callable[[str, Bits], Bits]
"""Called with each assignment to bits of a wire: path and name with these bits, and the term; the returned term replaces
it."""


def as_it_is(module: str, name: str, bits: Bits) -> Bits:
    """A `Seen` that changes nothing."""
    return bits


def opened(module: str, name: str, width: int) -> None:
    """An `Unopened` that opens every instance."""


def as_driven(name: str, bits: Bits) -> Bits:
    """A `Driven` that changes nothing."""
    return bits


@dataclass(frozen=True)
class Setting:
    """The state that all circuits of one file share.

    Attributes:
        terms: makes terms. modules: the modules of the file.
        transparent: whether registers are wires. held: registers of the top module that hold a constant, with its value.
        states: the variable of each register, by path and name; circuits that share the table start in the same state.
        seen: sees the outputs of instances. driven: sees the assignments to wires.
        unopened: decides which instances stay opaque.
        undefined: takes a variable for each x or z, which may have any value at any time; None if x and z are refused.
    """

    terms: Terms
    modules: Mapping[str, Module]
    transparent: bool = False
    held: Mapping[str, Bits] = field(default_factory=dict)
    states: dict[str, Bits] = field(default_factory=dict)
    seen: Seen = as_it_is
    driven: Driven = as_driven
    unopened: Unopened = opened
    undefined: list[Bits] | None = None


class Circuit:
    """A module with values at its inputs.

    Args:
        setting: the shared state. module: its module. inputs: the values of its input ports.
        path: names of instances from the top, each with a dot.
    """

    def __init__(self, setting: Setting, module: Module, inputs: Mapping[str, Callable[[], Bits]], path: str = "") -> None:
        self._setting, self._module, self._path = setting, module, path
        self._terms, self._inputs = setting.terms, {name: _Once(module.name, make) for name, make in inputs.items()}
        self._expressions = Expressions(setting.terms, self._slice, module.signed, self._undefined)
        self._parts: dict[str, Circuit] = {}
        self._drivers: dict[str, list[tuple[int, int, Callable[[], Bits]]]] = {}
        for assignment in module.assignments:
            self._write(assignment, self._assigned)
        for register in module.registers:
            self._write(register, self._register)
        for instance in module.instances:
            self._connect(instance)

    @classmethod
    def of_top(cls, setting: Setting, module: Module, inputs: Mapping[str, Bits]) -> "Circuit":
        """The top module with these bits at its input ports."""
        return cls(setting, module, {name: _given(bits) for name, bits in inputs.items()})

    def wire(self, name: str) -> Bits:
        """The term of a wire.

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
        """The terms of the connected input ports of an instance."""
        of = self._setting.modules[instance.module]
        return {
            connection.port: self._expressions.operand(connection.operand, of.width(connection.port))
            for connection in instance.connections
            if of.directions[connection.port] == "input" and connection.operand is not None
        }

    def outputs(self) -> dict[str, Bits]:
        """The terms of the output ports; exception flags, where the top module has that port, stand above d."""
        found = {name: self.wire(name) for name, side in self._module.directions.items() if side == "output"}
        if not self._path and {"d", "flags"} <= found.keys():
            found["d"] = self._terms.joined([found.pop("flags"), found["d"]])
        return found

    def next_states(self) -> dict[str, Bits]:
        """The term of every register after the next clock edge, by path and name, instances included."""
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

    def _write(self, statement: Assignment, value: Callable[[Assignment], Bits]) -> None:
        self._drive(statement.target, lambda: value(statement))

    def _drive(self, target: Operand, make: Callable[[], Bits]) -> None:
        """Note which bits a statement drives: the first part of a concatenation has the highest bits."""
        place, once = target.width, _Once(self._module.name, make)
        for part in target.parts if isinstance(target, Concatenation) else (target,):
            place -= part.width
            if not isinstance(part, Slice):
                raise NoTerm(f"{part.text} is assigned in {self._module.name}")
            if self._module.directions.get(part.name) == "input":
                raise NoTerm(f"{part.name}, an input of {self._module.name}, is driven inside of it")
            bottom = min(self._offset(part.name, part.low), self._offset(part.name, part.high))
            name = f"{self._path}{part.name}[{bottom + part.width - 1}:{bottom}]"
            piece = self._piece(once, place + part.width - 1, place, name)
            drivers = self._drivers.setdefault(part.name, [])
            if any(bottom < other + width and other < bottom + part.width for other, width, _ in drivers):
                raise NoTerm(f"bits of {part.name} in {self._module.name} are driven twice")
            drivers.append((bottom, part.width, piece))

    def _piece(self, whole: "_Once", high: int, low: int, name: str) -> Callable[[], Bits]:
        return lambda: self._setting.driven(name, self._terms.part(whole.bits(), high, low))

    def _offset(self, name: str, bit: int) -> int:
        """The position of a declared bit, from 0."""
        high, low = self._module.ranges[name]
        return bit - low if high >= low else low - bit

    def _connect(self, instance: Instance) -> None:
        """Record that an instance drives the wires connected to its outputs."""
        of = self._setting.modules.get(instance.module)
        if of is None:
            raise NoTerm(f"{instance.module} is not in the file")
        for connection in instance.connections:
            port, operand = connection.port, connection.operand
            if port not in of.directions:
                raise NoTerm(f"{instance.name} is connected at {port}, which {instance.module} does not have")
            if operand is None:
                continue
            if operand.width != of.width(port):  # simulators do not agree on how it is extended
                raise NoTerm(f"{instance.name}.{port} has {of.width(port)} bits and is connected to {operand.width}")
            if of.directions[port] != "input":
                self._drive(operand, self._output(instance, port))

    def _output(self, instance: Instance, port: str) -> Callable[[], Bits]:
        return lambda: self._given_by(instance, port)

    def _given_by(self, instance: Instance, port: str) -> Bits:
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
                connection.port: self._connected(connection.operand, of.width(connection.port))
                for connection in instance.connections
                if of.directions[connection.port] == "input" and connection.operand is not None
            }
            self._parts[instance.name] = Circuit(self._setting, of, inputs, f"{self._path}{instance.name}.")
        return self._parts[instance.name]

    def _connected(self, operand: Operand, width: int) -> Callable[[], Bits]:
        return lambda: self._expressions.operand(operand, width)

    def _undefined(self, constant: Constant) -> Bits:
        made = self._setting.undefined
        if made is None:
            raise NoTerm(f"{constant.text} is no number")
        made.append(self._terms.free(f"anything {len(made)}", constant.width))
        return made[-1]

    def _slice(self, operand: Slice) -> Bits:
        ends = self._offset(operand.name, operand.high), self._offset(operand.name, operand.low)
        return self._bits(operand.name, max(ends), min(ends))

    def _bits(self, name: str, high: int, low: int) -> Bits:
        """Bits of a wire, counted from 0."""
        if self._module.directions.get(name) == "input":
            if name not in self._inputs:
                raise NoTerm(f"{name} of {self._module.name} is not connected")
            return self._terms.part(self._inputs[name].bits(), high, low)
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


def _given(bits: Bits) -> Callable[[], Bits]:
    return lambda: bits


class _Once:
    """Computes a term on its first use."""

    def __init__(self, module: str, make: Callable[[], Bits]) -> None:
        self._module, self._make = module, make
        self._found: Bits | None = None
        self._is_under_way = False

    def bits(self) -> Bits:
        """Its definition.

        Raises:
            NoTerm: it depends on itself.
        """
        if self._found is None:
            if self._is_under_way:
                raise NoTerm(f"a loop in {self._module}")
            self._is_under_way = True
            try:
                self._found = self._make()
            finally:
                self._is_under_way = False
        return self._found
