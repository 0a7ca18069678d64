"""Run combinational Amaranth components and functions on many inputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from amaranth import Cat, Elaboratable, Module, Shape, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.hdl._ast import Slice

from golden.arithmetic.formats import Cls, Decoded
from rtl.steps.component import AnyComponent
from tests.rtl.circuit import compiled

Inputs = Mapping[str, int]


class Driven(Elaboratable):
    """A component whose inputs come side by side in one signal, and what is seen of it in another.

    Args:
        paths: of the ports that are driven; the others keep their initial values.
        seen: what is seen.
    """

    def __init__(self, component: AnyComponent, paths: Sequence[str], seen: Sequence[Value]) -> None:
        self.component = component
        self.ports, self.seen = [Value.cast(port(component, path)) for path in paths], seen
        self.inputs, self.results = (Signal(sum(map(len, values))) for values in (self.ports, seen))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.component = self.component
        m.d.comb += [Cat(self.ports).eq(self.inputs), self.results.eq(Cat(self.seen))]
        return m


def outputs(component: AnyComponent, inputs: Iterable[Inputs], read: Callable[[Any], Any]) -> list[Any]:
    """The values that `read` takes of the component for each mapping of port paths (`x.sig`) to values.

    Each mapping names the same ports.

    `read` gets a function from a signal, or a field of one, to its value. It must read the same ones of every row.
    """
    rows = list(inputs)
    paths = list(rows[0])
    places: dict[Place, Value] = {}
    read(lambda value: len(places.setdefault(place_of(value), Value.cast(value))) * 0)
    driven = Driven(component, paths, list(places.values()))
    function = compiled(driven, driven.inputs, driven.results)
    shapes, seen_shapes = [value.shape() for value in driven.ports], [value.shape() for value in driven.seen]
    seen = []
    for values in rows:
        assert values.keys() == rows[0].keys()
        bits = function(joined([values[path] for path in paths], shapes))
        found = dict(zip(places, split(bits, seen_shapes), strict=True))
        seen.append(read(lambda value, found=found: found[place_of(value)]))
    return seen


Place = tuple[int, int, int]
"""The identity of a signal, and the first and the last bit of a field of it."""


def place_of(value: ValueLike) -> Place:
    """Where a value is read: views make new fields of the same signal at every look."""
    field: Any = Value.cast(value)
    return (id(field.value), field.start, field.stop) if isinstance(field, Slice) else (id(field), 0, len(field))


def port(component: Any, path: str) -> Any:
    """The signal at a dotted path of ports; an element of an array by its index."""
    for name in path.split("."):
        component = component[int(name)] if name.isdigit() else getattr(component, name)
    return component


class Packed(Elaboratable):
    """A combinational function with its inputs side by side in one signal and its outputs in another.

    Args:
        shapes: of the inputs.
        build: adds the function to a module; takes the inputs, gives the outputs.
    """

    def __init__(self, shapes: Sequence[Shape], build: Callable[[Module, list[Signal]], Sequence[Value]]) -> None:
        self.m = Module()
        inputs: list[Signal] = [Signal(shape, name=f"in_{k}") for k, shape in enumerate(shapes)]
        results = build(self.m, inputs)
        self.shapes, self.result_shapes = [signal.shape() for signal in inputs], [value.shape() for value in results]
        self.inputs, self.results = Signal(sum(map(len, inputs))), Signal(sum(map(len, results)))
        self.m.d.comb += [Cat(inputs).eq(self.inputs), self.results.eq(Cat(results))]

    def elaborate(self, platform: object) -> Module:
        return self.m


def evaluate(
    shapes: Sequence[Shape], build: Callable[[Module, list[Signal]], Sequence[Value]], rows: Iterable[Sequence[int]]
) -> list[tuple[int, ...]]:
    """The outputs of a function for each row of inputs; arguments as `Packed`."""
    packed = Packed(shapes, build)
    function = compiled(packed, packed.inputs, packed.results)
    return [split(function(joined(row, packed.shapes)), packed.result_shapes) for row in rows]


def run_part(
    part: Elaboratable, ports: Sequence[Value], results: Sequence[Value], rows: Iterable[Sequence[int]]
) -> list[tuple[int, ...]]:
    """The results of a component for each row of its ports' values."""

    def build(m: Module, inputs: list[Signal]) -> Sequence[Value]:
        m.submodules.part = part
        m.d.comb += [port.eq(value) for port, value in zip(ports, inputs, strict=True)]
        return results

    return evaluate([port.shape() for port in ports], build, rows)


def joined(row: Sequence[int], shapes: Sequence[Shape]) -> int:
    """The values side by side, the first in the lowest bits."""
    bits, place = 0, 0
    for value, shape in zip(row, shapes, strict=True):
        bits |= (value & ((1 << shape.width) - 1)) << place
        place += shape.width
    return bits


def split(bits: int, shapes: Sequence[Shape]) -> tuple[int, ...]:
    """The inverse of `joined`."""
    row = []
    for shape in shapes:
        value = bits & ((1 << shape.width) - 1)
        row.append(value - (1 << shape.width) if shape.signed and value >> (shape.width - 1) else value)
        bits >>= shape.width
    return tuple(row)


def packed(codes: Iterable[int], width: int) -> int:
    """Elements of a port side by side, the first in the lowest bits."""
    return sum(code << (k * width) for k, code in enumerate(codes))


def members(interface: Any) -> list[Value]:
    """The signals of a port, in the order of its signature."""
    return [getattr(interface, name) for name in interface.signature.members]


def operand_fields(x: Decoded) -> tuple[int, ...]:
    """A decoded operand, as the members of an `OperandSignature`."""
    return (x.sign, x.exp, x.sig, int(x.cls is Cls.ZERO), int(x.cls is Cls.INFINITY), int(x.cls is Cls.NAN))
