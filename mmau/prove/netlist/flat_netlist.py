"""A flattened netlist with registers, in which modules without registers stay opaque.

Each output of an opaque module is a variable, and so is the state of each register. A property that holds for all values of
these variables holds for the netlist; two netlists give equal results if their opaque modules are alike and get equal
inputs.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bitwuzla import Kind, Term

from mmau.prove.evaluation import variables
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import Concatenation, Module, Operand, Signed, Slice
from mmau.prove.netlist.terms import Bits, Terms


@dataclass(frozen=True)
class OpaqueModule:
    """An instance of a module without registers: the module's name, and the values of its connected inputs."""

    module: str
    inputs: Mapping[str, Bits]


@dataclass(frozen=True)
class Source:
    """The origin of a variable: `kind` is input, register or opaque; `name` is the name of the port, the register or the
    instance."""

    kind: str
    name: str


class FlatNetlist:
    """A top module with its instances.

    Args:
        terms: makes terms. modules: the modules of the file. top: the top module.
        shared: variables by name, used in place of new ones: inputs, and outputs of opaque modules.
        undefined: takes a variable for each x or z, which may have any value at any time; None if x and z are refused.
        opened: modules without registers that are flattened too, by name.

    Attributes:
        inputs: variables of the input ports. outputs: terms of the output ports.
        registers: the variable of each register's state, by path and name. after: its next state.
        opaque: opaque modules by path.
        source: the origin of each variable.

    Raises:
        NoTerm: a statement that has no term, a loop, or a register with another clock than the input `clk`.
    """

    def __init__(
        self,
        terms: Terms,
        modules: Mapping[str, Module],
        top: str,
        shared: Mapping[str, Bits] | None = None,
        undefined: list[Bits] | None = None,
        opened: Collection[str] = (),
    ) -> None:
        check_clocks(modules, top)
        self._terms, self._modules = terms, modules
        self._shared, self._given = shared or {}, dict[str, Bits]()
        self._flattened = {name for name in modules if has_registers(modules, name)} | set(opened)
        self._reached: dict[str, frozenset[Term]] = {}
        self._under_way: set[str] = set()
        self.source: dict[Term, Source] = {}
        self.inputs: dict[str, Bits] = {}
        module = modules[top]
        for name, direction in module.directions.items():
            if direction == "input":
                self.inputs[name] = self._variable(Source("input", name), name, module.width(name))
        self.registers = {
            name: self._variable(Source("register", name), name, width) for name, width in self._registers(module, "")
        }
        setting = Setting(terms, modules, states=self.registers, unopened=self._unopened, undefined=undefined)
        circuit = Circuit.of_top(setting, module, self.inputs)
        self.outputs = circuit.outputs()
        self.after: dict[str, Bits] = circuit.next_states()
        self.opaque = dict(self._opaque_modules(circuit, module, ""))

    def reached(self, term: Term) -> frozenset[Term]:
        """The ports and registers on which a term depends, through opaque modules.

        Raises:
            NoTerm: it depends on an opaque module in a combinational loop.
        """
        found = set[Term]()
        for variable in variables([term]):
            found |= self._reached_from(variable)
        return frozenset(found)

    def behind(self, variable: Term) -> list[Bits]:
        """The inputs of the opaque module behind a variable."""
        return list(self.opaque[self.source[variable].name].inputs.values())

    def _reached_from(self, variable: Term) -> frozenset[Term]:
        source = self.source[variable]
        if source.kind != "opaque":
            return frozenset([variable])
        if source.name not in self._reached:
            if source.name in self._under_way:
                raise NoTerm(f"a loop through {source.name}")
            self._under_way.add(source.name)
            found = set[Term]()
            for bits in self.behind(variable):
                found |= self.reached(bits.term)
            self._under_way.discard(source.name)
            self._reached[source.name] = frozenset(found)
        return self._reached[source.name]

    def _variable(self, source: Source, name: str, width: int) -> Bits:
        shared = self._shared.get(name)
        bits = shared if shared is not None and shared.width == width else self._terms.free(name, width)
        self.source[bits.term] = source
        return bits

    def _unopened(self, module: str, name: str, width: int) -> Bits | None:
        if module in self._flattened:
            return None
        if name not in self._given:
            self._given[name] = self._variable(Source("opaque", name.rsplit(".", 1)[0]), name, width)
        return self._given[name]

    def _registers(self, module: Module, path: str) -> Iterator[tuple[str, int]]:
        for register in module.registers:
            yield f"{path}{register.target.text.strip()}", register.target.width
        for instance in module.instances:
            yield from self._registers(self._modules[instance.module], f"{path}{instance.name}.")

    def _opaque_modules(self, circuit: Circuit, module: Module, path: str) -> Iterator[tuple[str, OpaqueModule]]:
        for instance in module.instances:
            if instance.module in self._flattened:
                inside = circuit.inside(instance.name)
                yield from self._opaque_modules(inside, self._modules[instance.module], f"{path}{instance.name}.")
            else:
                yield f"{path}{instance.name}", OpaqueModule(instance.module, circuit.into(instance))


def has_registers(modules: Mapping[str, Module], name: str) -> bool:
    """Whether a module, or one inside it, has registers."""
    module = modules[name]
    return bool(module.registers) or any(has_registers(modules, instance.module) for instance in module.instances)


CLOCK = "clk"
"""The clock of every register."""


def check_clocks(modules: Mapping[str, Module], name: str) -> None:
    """Check that the registers of a module, and those inside, have the module's input `clk` as their clock.

    Raises:
        NoTerm: a clock that is no input, is driven, or is connected to something else.
    """
    module, inside = modules[name], [each for each in modules[name].instances if has_registers(modules, each.module)]
    if not module.registers and not inside:
        return
    driven = {part.name for each in module.assignments for part in slices(each.target)}
    outputs = [
        (port.operand, modules[instance.module].directions[port.port])
        for instance in module.instances
        for port in instance.connections
    ]
    driven |= {part.name for operand, way in outputs if operand is not None and way == "output" for part in slices(operand)}
    if module.directions.get(CLOCK) != "input" or module.width(CLOCK) != 1 or CLOCK in driven:
        raise NoTerm(f"{name}: {CLOCK} must be an input of one bit that nothing drives, as registers change at its edge")
    for instance in inside:
        given = [port.operand for port in instance.connections if port.port == CLOCK]
        if len(given) != 1 or not isinstance(given[0], Slice) or given[0].name != CLOCK:
            text = given[0].text if given and given[0] is not None else "nothing"
            raise NoTerm(f"{name}: {CLOCK} of {instance.name} must be {CLOCK}, got {text}")
        check_clocks(modules, instance.module)


def slices(operand: Operand) -> Iterator[Slice]:
    """The wires in an operand."""
    if isinstance(operand, Slice):
        yield operand
    elif isinstance(operand, Signed):
        yield from slices(operand.operand)
    elif isinstance(operand, Concatenation):
        for part in operand.parts:
            yield from slices(part)


def is_choice(term: Term) -> bool:
    """Whether a term selects one of two terms by a condition."""
    return bool(term.kind() == Kind.ITE)
