"""Run combinational Amaranth components and functions on many inputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from amaranth import Cat, Elaboratable, Module, Shape, Signal, Value
from amaranth.sim import Simulator

from golden.formats import Cls, Decoded
from rtl.steps.component import AnyComponent

Inputs = Mapping[str, int]


class Driven(Elaboratable):
    """A component whose inputs come side by side in one signal: a row costs the simulator one change and not several.

    Args:
        paths: of the ports that are driven; the others keep their initial values.
    """

    def __init__(self, component: AnyComponent, paths: Sequence[str]) -> None:
        self.component = component
        self.ports = [Value.cast(port(component, path)) for path in paths]
        self.inputs = Signal(sum(map(len, self.ports)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.component = self.component
        m.d.comb += Cat(self.ports).eq(self.inputs)
        return m


def outputs(component: AnyComponent, inputs: Iterable[Inputs], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` sees of the component for each mapping of port paths (`x.sig`) to values; each names the same ports."""
    rows = list(inputs)
    paths = list(rows[0])
    driven = Driven(component, paths)
    shapes = [value.shape() for value in driven.ports]
    seen = []

    async def testbench(ctx: Any) -> None:
        for values in rows:
            assert values.keys() == rows[0].keys()
            ctx.set(driven.inputs, joined([values[path] for path in paths], shapes))
            seen.append(read(ctx.get))

    simulator = Simulator(driven)
    simulator.add_testbench(testbench)
    simulator.run()  # type: ignore[no-untyped-call]
    return seen


def port(component: Any, path: str) -> Any:
    """The signal at a dotted path of ports; an element of an array by its index."""
    for name in path.split("."):
        component = component[int(name)] if name.isdigit() else getattr(component, name)
    return component


class Packed(Elaboratable):
    """A combinational function with its inputs side by side in one signal and its outputs in another.

    A row then costs the simulator one write and one read, so that rows come by the ten thousand.

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
    seen: list[int] = []

    async def testbench(ctx: Any) -> None:
        for row in rows:
            ctx.set(packed.inputs, joined(row, packed.shapes))
            seen.append(ctx.get(packed.results))

    simulator = Simulator(packed)
    simulator.add_testbench(testbench)
    simulator.run()  # type: ignore[no-untyped-call]
    return [split(value, packed.result_shapes) for value in seen]


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


def members(interface: Any) -> list[Value]:
    """The signals of a port, in the order of its signature."""
    return [getattr(interface, name) for name in interface.signature.members]


def operand_fields(x: Decoded) -> tuple[int, ...]:
    """A decoded operand, as the members of an `OperandSignature`."""
    return (x.sign, x.exp, x.sig, int(x.cls is Cls.ZERO), int(x.cls is Cls.INFINITY), int(x.cls is Cls.NAN))
