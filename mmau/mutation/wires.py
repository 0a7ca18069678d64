"""The inputs and registers on which a wire of a file with mutants depends while one mutant is active."""

from collections.abc import Iterator, Mapping, Set
from functools import cached_property

from mmau.formal.netlist.syntax import Choice, Expression, Instance, Module, Operand, Slice
from mmau.mutation.connections import names_of
from mmau.mutation.schemata import SELECT, number_of_active

NOT_READ = frozenset({"clk", SELECT})
"""Inputs that are not data: the clock, and the selection, which is constant with one mutant active."""


class Wires:
    """The wires of a module.

    Args:
        modules: the modules of the file. name: the name of the module. mutant: the number of the active one, 0 for none.
    """

    def __init__(self, modules: Mapping[str, Module], name: str, mutant: int) -> None:
        self.module, self._modules, self._mutant = modules[name], modules, mutant
        self.registers = {register.target.text.strip(): register.expression for register in self.module.registers}
        self._parts: dict[str, Wires] = {}

    def sources(self, wire: str) -> Set[str]:
        """The inputs and registers on which a wire depends within a clock cycle."""
        reached, found, waiting = set[str](), set[str](), [wire]
        while waiting:
            name = waiting.pop()
            if name in reached or name in NOT_READ:
                continue
            reached.add(name)
            if name in self.registers or self.module.directions.get(name) == "input":
                found.add(name)
            else:
                waiting += self._drivers.get(name, ())
        return found

    def read(self, expression: Expression) -> Iterator[str]:
        """The wires that an expression depends on."""
        chosen = self.chosen(expression)
        for operand in (chosen,) if chosen else expression.operands:
            yield from names_of(operand)

    def chosen(self, expression: Expression) -> Operand | None:
        """The operand that the selection of a mutant chooses; None for every other expression."""
        if not isinstance(expression, Choice) or not isinstance(expression.condition, Slice):
            return None
        number = number_of_active(expression.condition.name)
        if number is None:
            return None
        return expression.yes if number == self._mutant else expression.no

    @cached_property
    def _drivers(self) -> dict[str, set[str]]:
        """The wires on which each wire directly depends."""
        found: dict[str, set[str]] = {}
        for assignment in self.module.assignments:
            for name in names_of(assignment.target):
                found.setdefault(name, set()).update(self.read(assignment.expression))
        for instance in self.module.instances:
            self._connect(instance, found)
        return found

    def _connect(self, instance: Instance, drivers: dict[str, set[str]]) -> None:
        """Record the dependencies of an instance's outputs on its inputs."""
        if instance.module not in self._parts:
            self._parts[instance.module] = Wires(self._modules, instance.module, self._mutant)
        part = self._parts[instance.module]
        given = {each.port: names_of(each.operand) for each in instance.connections if each.operand is not None}
        for port, names in given.items():
            if part.module.directions[port] != "input":
                made_of = {name for source in part.sources(port) for name in given.get(source, ())}
                for name in names:
                    drivers.setdefault(name, set()).update(made_of)
