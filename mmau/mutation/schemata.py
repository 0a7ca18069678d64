"""All mutants of a file in one: Verilog whose additional input `mutant` selects the active one at run time, 0 for none.

A line with mutants computes the original value and each mutant's value on separate wires, so that a mutation cannot change
widths and signs of other expressions, and selects one of them:

    assign mutant_value_120 = $signed(x__exp) + $signed(y__exp);
    assign mutant_3 = x__exp + y__exp;
    assign mutant_3_active = mutant == 16'd3;
    assign mutant_3_or_other = mutant_3_active ? mutant_3 : mutant_value_120;
    assign exp = mutant_3_or_other;

The result is in the subset that Yosys writes, and can be read as such.
"""

import re
from collections.abc import Mapping, Sequence

from mmau.mutation.mutations import VALUE
from mmau.mutation.sample import Mutant
from mmau.prove.netlist.syntax import Assignment, Connection, Module

SELECT = "mutant"
"""The input that selects a mutant."""

SELECT_BITS = 16

ACTIVE = re.compile(r"mutant_(\d+)_active")


def with_schemata(text: str, modules: Mapping[str, Module], mutants: Sequence[Mutant]) -> str:
    """The file with all the mutants in it.

    Raises:
        ValueError: it has a signal of the name `mutant` already.
    """
    lines = text.splitlines()
    at: dict[int, list[Mutant]] = {}
    for mutant in mutants:
        at.setdefault(mutant.line, []).append(mutant)
    for module in modules.values():
        if SELECT in module.ranges:
            raise ValueError(f"module {module.name} has a signal {SELECT} already: rename it")
        _add_input(lines, module)
        for assignment in module.assignments:
            if assignment.line in at:
                lines[assignment.line - 1] = _selected(assignment, at[assignment.line])
        for instance in module.instances:
            if instance.module in modules:
                comma = "," if instance.connections else ""
                lines[instance.line - 1] += f"\n    .{SELECT}({SELECT}){comma}"
            before: list[str] = []
            for connection in instance.connections:
                if connection.line in at:
                    before.append(_connected(lines, connection, at[connection.line]))
            lines[instance.line - 1] = "\n".join([*before, lines[instance.line - 1]])
    return "\n".join(lines) + "\n"


def number_of_active(wire: str) -> int | None:
    """The number of the mutant whose activity a wire of the file signals; None for another wire."""
    found = ACTIVE.fullmatch(wire)
    return int(found[1]) if found else None


def _add_input(lines: list[str], module: Module) -> None:
    """The input in the list of ports, which ends in the module's line, and its declaration."""
    end = lines[module.line - 1].rstrip()
    comma = ", " if module.ports else ""
    if not end.endswith(");"):
        raise ValueError(f"module {module.name}: its list of ports ends in another way than Yosys writes it")
    declared = f"  input [{SELECT_BITS - 1}:0] {SELECT};\n  wire [{SELECT_BITS - 1}:0] {SELECT};"
    lines[module.line - 1] = f"{end[:-2]}{comma}{SELECT});\n{declared}"


def _selected(assignment: Assignment, mutants: Sequence[Mutant]) -> str:
    wires, chosen = _wires(assignment.expression.text, assignment.target.width, assignment.line, mutants)
    return "\n".join([*wires, f"  assign {assignment.target.text} = {chosen};"])


def _connected(lines: list[str], connection: Connection, mutants: Sequence[Mutant]) -> str:
    """Change the connection's line, and return the declarations that must precede the instance."""
    operand = connection.operand
    if operand is None:
        raise ValueError(f"line {connection.line}: an open port has nothing to mutate")
    wires, chosen = _wires(operand.text, operand.width, connection.line, mutants)
    name = f"mutant_input_{connection.line}"
    line = lines[connection.line - 1]
    comma = "," if line.rstrip().endswith(",") else ""
    lines[connection.line - 1] = f"    .{_port(connection.port)}({name}){comma}"
    return "\n".join([*wires, f"  wire [{operand.width - 1}:0] {name};", f"  assign {name} = {chosen};"])


def _port(name: str) -> str:
    return f"{name} " if name.startswith("\\") else name


def _wires(before: str, width: int, line: int, mutants: Sequence[Mutant]) -> tuple[list[str], str]:
    """Statements that compute the value and each mutant's, and the wire with the selected one."""
    value = chosen = f"mutant_value_{line}"
    bits = f"wire [{width - 1}:0]"
    wires = [f"  {bits} {value};", f"  assign {value} = {before};"]
    for mutant in mutants:
        n = mutant.number
        after = mutant.after.replace(VALUE, value)
        wires += [
            f"  {bits} mutant_{n};",
            f"  wire mutant_{n}_active;",
            f"  {bits} mutant_{n}_or_other;",
            f"  assign mutant_{n} = {after};",
            f"  assign mutant_{n}_active = {SELECT} == {SELECT_BITS}'d{n};",
            f"  assign mutant_{n}_or_other = mutant_{n}_active ? mutant_{n} : {chosen};",
        ]
        chosen = f"mutant_{n}_or_other"
    return wires, chosen
