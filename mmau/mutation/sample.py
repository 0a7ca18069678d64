"""The choice of mutants of a file: seeded, and balanced over all kinds in all steps of the datapath. One kind is made here:
mutations of connections between modules, in which an instance's input gets its neighbour's signal, or is shifted by a bit.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mmau.mutation.mutations import HANDSHAKE_WORDS, KINDS, STICKY_WORDS, VALUE, Change, Draw, changes, is_about
from mmau.prove.netlist.syntax import Concatenation, Connection, Constant, Instance, Module, Operand, Signed, Slice


def connection_changes(
    module: Module, modules: Mapping[str, Module], instance: Instance, draw: Draw
) -> Iterator[tuple[Connection, Change]]:
    """Every mutation of an instance's inputs."""
    of = modules.get(instance.module)
    if of is None:
        return
    after = _downstream(module, modules, instance)
    for connection in instance.connections:
        operand = connection.operand
        if operand is None or of.directions.get(connection.port) != "input" or isinstance(operand, Constant):
            continue
        for other in _neighbours(module, instance, connection.port, operand, after):
            yield connection, Change("connection", other.text)
        bit = 1 << draw(operand.width)
        mask = ((1 << operand.width) - 1) ^ bit
        yield connection, Change("stuck bit", f"{VALUE} & {Constant.of(mask, operand.width).text}")
        yield connection, Change("stuck bit", f"{VALUE} | {Constant.of(bit, operand.width).text}")
        if operand.width > 1:
            yield connection, Change("shifted bits", f"{VALUE} << 1")
            yield connection, Change("shifted bits", f"{VALUE} >> 1")
        if is_about(STICKY_WORDS, [operand]):
            yield connection, Change("sticky", Constant.of(0, operand.width).text)
        if is_about(HANDSHAKE_WORDS, [operand]):
            yield connection, Change("handshake", f"! {VALUE}")


def _neighbours(module: Module, instance: Instance, port: str, operand: Operand, after: set[str]) -> Iterator[Operand]:
    """The signals at the same port of the next instance of the module, and at another port of this one, unless they depend
    on this instance, which would close a loop."""
    kin = [other for other in module.instances if other.module == instance.module]
    following = kin[(kin.index(instance) + 1) % len(kin)]
    candidates = [c.operand for c in following.connections if c.port == port]
    candidates += [c.operand for c in instance.connections if c.port != port][:1]
    for other in candidates:
        if other is not None and other.width == operand.width and other != operand and not after & names_of(other):
            yield other


def names_of(operand: Operand) -> set[str]:
    """The wires in an operand."""
    if isinstance(operand, Slice):
        return {operand.name}
    if isinstance(operand, Signed):
        return names_of(operand.operand)
    if isinstance(operand, Concatenation):
        return {name for part in operand.parts for name in names_of(part)}
    return set()


def _downstream(module: Module, modules: Mapping[str, Module], instance: Instance) -> set[str]:
    """The instance's outputs, and every wire that depends on them within a clock cycle."""
    feeds: dict[str, set[str]] = {}
    for assignment in module.assignments:
        for source in (name for operand in assignment.expression.operands for name in names_of(operand)):
            feeds.setdefault(source, set()).update(names_of(assignment.target))
    connected = {other.name: _sides(other, modules) for other in module.instances}
    for inputs, outputs in connected.values():
        for source in inputs:
            feeds.setdefault(source, set()).update(outputs)
    reached: set[str] = set()
    waiting = set(connected[instance.name][1])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting |= feeds.get(name, set())
    return reached


def _sides(instance: Instance, modules: Mapping[str, Module]) -> tuple[set[str], set[str]]:
    """Wires at an instance's inputs, and wires at its outputs; for a module that is not in the file, all wires in both."""
    of = modules.get(instance.module)
    inputs: set[str] = set()
    outputs: set[str] = set()
    for connection in instance.connections:
        names = names_of(connection.operand) if connection.operand is not None else set()
        direction = of.directions.get(connection.port) if of else None
        if direction != "output":
            inputs |= names
        if direction != "input":
            outputs |= names
    return inputs, outputs


@dataclass(frozen=True)
class Mutant:
    """One fault in a file.

    Attributes:
        number: the number that selects the mutant, from 1. kind: one of `KINDS`.
        step: the step of the datapath, from the name of the module: decode, multiply, align … module: the module's name
            in the file.
        place: the wire that is assigned, or instance and port. line: the line of the file, from 1.
        before, after: Verilog text; in `after`, `$value` is what `before` gives.
    """

    number: int
    kind: str
    step: str
    module: str
    place: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """The fault in one line."""
        after = self.after.replace(VALUE, f"({self.before.strip()})").strip()
        return f"{self.kind} in {self.module}, {self.place} (line {self.line}): {self.before.strip()} becomes {after}"


def step_of(module: str, top: str) -> str:
    """The datapath's step that a module is: `unit_align_2` is `align`, `unit_decode_fp16` is `decode`; `top` is the top."""
    if module == top:
        return "top"
    name = module.removeprefix(f"{top}_")
    return re.split(r"_\d+$|(?<=decode)_", name)[0]


def mutants_of(modules: Mapping[str, Module], top: str, count: int, seed: int) -> list[Mutant]:
    """`count` mutants, or all if there are fewer: in turn one of each kind in each step.

    Raises:
        ValueError: no mutant at all.
    """
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in _all_mutants(modules, top, seed):
        groups.setdefault((mutant.kind, mutant.step), []).append(mutant)
    if not groups:
        raise ValueError(f"{top} has nothing to mutate: no assignment with an operator or a number")
    order = sorted(groups, key=lambda group: (KINDS.index(group[0]), group[1]))
    random.Random(f"groups {seed}").shuffle(order)
    for group in order:
        random.Random(f"{seed} {group}").shuffle(groups[group])
    chosen: dict[tuple[int, str], Mutant] = {}  # by line and text: a mutation that two kinds share occurs once
    while len(chosen) < count and any(groups.values()):
        for group in order:
            if groups[group] and len(chosen) < count:
                mutant = groups[group].pop()
                chosen.setdefault((mutant.line, " ".join(mutant.after.split())), mutant)
    in_order = sorted(chosen.values(), key=lambda mutant: (mutant.line, KINDS.index(mutant.kind), mutant.after))
    return [_numbered(mutant, number) for number, mutant in enumerate(in_order, 1)]


def _numbered(mutant: Mutant, number: int) -> Mutant:
    return Mutant(
        number, *(getattr(mutant, name) for name in ("kind", "step", "module", "place", "line", "before", "after"))
    )


def _all_mutants(modules: Mapping[str, Module], top: str, seed: int) -> Iterator[Mutant]:
    rng = random.Random(f"bits {seed}")
    for module in modules.values():
        step = step_of(module.name, top)
        for assignment in module.assignments:
            before, place = assignment.expression.text, assignment.target.text.strip()
            for change in _different(changes(module, step, assignment, rng.randrange), before):
                yield Mutant(0, change.kind, step, module.name, place, assignment.line, before, change.after)
        for instance in module.instances:
            for connection, change in connection_changes(module, modules, instance, rng.randrange):
                operand: Operand | None = connection.operand
                before, place = operand.text if operand else "", f"{instance.name}.{connection.port}"
                yield Mutant(0, change.kind, step, module.name, place, connection.line, before, change.after)


def _different(found: Iterator[Change], before: str) -> Iterator[Change]:
    """Each text once, under its first kind, and none that changes nothing."""
    seen = {" ".join(before.split())}
    for change in found:
        text = " ".join(change.after.split())
        if text not in seen:
            seen.add(text)
            yield change
