"""Mutations of connections between modules: an instance's input gets its neighbour's signal, or is shifted by a bit."""

from collections.abc import Iterator, Mapping

from mmau.mutation.mutations import HANDSHAKE_WORDS, STICKY_WORDS, VALUE, Change, Draw, is_about
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
