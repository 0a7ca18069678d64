"""A netlist with registers, flattened: modules without registers are boxes, which nobody looks into.

What a box gives is a variable, and so is the state of each register. What holds whatever these variables are holds of the
netlist; and two netlists give the same where their boxes are alike and get the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bitwuzla import Kind, Term

from formal.obligations.proof import supports
from rtl.verilog.circuit import Circuit, Setting
from rtl.verilog.expressions import NoTerm
from rtl.verilog.syntax import Module
from rtl.verilog.terms import Bits, Terms


@dataclass(frozen=True)
class Box:
    """An instance of a module without registers: the module's name, and what its connected inputs hold."""

    module: str
    inputs: Mapping[str, Bits]


@dataclass(frozen=True)
class Source:
    """What a variable is: `kind` is input, register or box. `name`: of the port, the register, or the instance."""

    kind: str
    name: str


class FlatNetlist:
    """A top module with all that it consists of.

    Args:
        terms: where terms are made. modules: of the file. top: the top module.
        shared: variables by name, to be used in place of new ones where there is one: inputs, and outputs of boxes.

    Attributes:
        inputs: variables of the input ports. outputs: what the output ports hold.
        registers: the variable of each register's state, by path and name. after: what it holds after the next clock edge.
        boxes: by path.
        source: what each variable is.

    Raises:
        NoTerm: a statement that has no term, or a loop.
    """

    def __init__(
        self, terms: Terms, modules: Mapping[str, Module], top: str, shared: Mapping[str, Bits] | None = None
    ) -> None:
        self._terms, self._modules = terms, modules
        self._shared, self._given = shared or {}, dict[str, Bits]()
        self._clocked = {name for name in modules if has_registers(modules, name)}
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
        circuit = Circuit(
            Setting(terms, modules, states=self.registers, unopened=self._unopened),
            module,
            {name: lambda bits=bits: bits for name, bits in self.inputs.items()},  # type: ignore[misc]
        )
        self.outputs = circuit.outputs()
        self.after: dict[str, Bits] = circuit.next_states()
        self.boxes = dict(self._boxes(circuit, module, ""))

    def reached(self, term: Term) -> frozenset[Term]:
        """The ports and registers on which a term depends, through boxes.

        Raises:
            NoTerm: a box on which it depends depends on itself.
        """
        found = set[Term]()
        for variable in supports([term]):
            found |= self._reached_from(variable)
        return frozenset(found)

    def behind(self, variable: Term) -> list[Bits]:
        """What the box of a variable gets."""
        return list(self.boxes[self.source[variable].name].inputs.values())

    def _reached_from(self, variable: Term) -> frozenset[Term]:
        source = self.source[variable]
        if source.kind != "box":
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
        if module in self._clocked:
            return None
        if name not in self._given:
            self._given[name] = self._variable(Source("box", name.rsplit(".", 1)[0]), name, width)
        return self._given[name]

    def _registers(self, module: Module, path: str) -> Iterator[tuple[str, int]]:
        for register in module.registers:
            yield f"{path}{register.target.text.strip()}", register.target.width
        for instance in module.instances:
            yield from self._registers(self._modules[instance.module], f"{path}{instance.name}.")

    def _boxes(self, circuit: Circuit, module: Module, path: str) -> Iterator[tuple[str, Box]]:
        for instance in module.instances:
            if instance.module in self._clocked:
                inside = circuit.inside(instance.name)
                yield from self._boxes(inside, self._modules[instance.module], f"{path}{instance.name}.")
            else:
                yield f"{path}{instance.name}", Box(instance.module, circuit.into(instance))


def has_registers(modules: Mapping[str, Module], name: str) -> bool:
    """Whether a module, or one inside it, has registers."""
    module = modules[name]
    return bool(module.registers) or any(has_registers(modules, instance.module) for instance in module.instances)


def is_choice(term: Term) -> bool:
    """Whether a term is one of two, as a condition says."""
    return bool(term.kind() == Kind.ITE)
