"""What can be generated: the datapath of a unit, one datapath of several formats, or the tile of an instruction.

A design derives its ports, their widths and its latency from its Amaranth component, and says for people what they mean;
whoever writes, measures, drives or lists a design takes them from here.
"""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from amaranth.hdl import Elaboratable, Shape
from amaranth.lib.wiring import Flow, Signature

import golden
from golden import Format, Implementation, Instruction, Operation, Unit
from golden.unit import unit_from_table, unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.multi_format import MultiFormatDatapath, check_units
from rtl.designs.tile import MMATile, check_tile
from rtl.designs.tile_shape import TileShape
from rtl.designs.unit import unit_datapath

CLOCK = {"clk": "rising edge", "rst": "synchronous, active high"}
"""Inputs that Amaranth adds to a component with registers: name to meaning."""

HANDSHAKE = {
    "in_valid": "the operand ports hold operands",
    "in_ready": "they are taken at this clock edge",
    "out_valid": "d holds a result; results come in order",
    "out_ready": "it is taken at this clock edge",
}
"""Ports of a component with registers: name to meaning."""

VECTORS = "Ports (element k of a vector in bits [k*w, (k+1)*w)"

MAX_TILE_PRODUCTS = 4096
"""Most products that a tile may multiply in a step, m·n·L: 16 x 8 elements of 32 products each. A tile of 1,024 takes 17 s
and 0.5 GiB to write, and both grow with the products."""

Direction = Literal["input", "output"]

Paragraph = tuple[str, ...]
"""Lines of a header that belong together."""


@dataclass(frozen=True)
class Port:
    """A port of a design.

    Attributes:
        direction: seen from the design.
        width: bits.
        meaning: for people.
    """

    direction: Direction
    name: str
    width: int
    meaning: str

    def __str__(self) -> str:
        return f"{self.direction:<6} {self.name:<9} {self.width:>4}  {self.meaning}"


class Design(Protocol):
    """A datapath or tile that can be written as Verilog, measured and co-simulated."""

    @property
    def name(self) -> str:
        """For tables and messages."""

    @property
    def title(self) -> str:
        """What its Verilog says it is."""

    @property
    def operation(self) -> Operation:
        """What its datapaths compute; of several formats, in the first."""

    @property
    def implementation(self) -> Implementation:
        """How its datapaths are built."""

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The header of its Verilog, without the first line."""

    def component(self) -> Datapath | MMATile:
        """A new Amaranth component.

        Raises:
            ValueError: parameters that no component can hold.
        """

    def as_table(self) -> dict[str, Any]:
        """For JSON: what `design_from_table` makes an equal design of."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Every port once, in the order of the header."""

    @property
    def port_lines(self) -> tuple[str, ...]:
        """The ports as its header lists them."""

    @property
    def latency(self) -> int:
        """Cycles from operands to result where nothing stalls, 0 where it is combinational."""


class FromComponent(ABC):
    """What a design derives from its component, once."""

    @property
    @abstractmethod
    def meanings(self) -> Mapping[str, str]:
        """Each port's meaning, in the order of the header, clock and handshake aside."""

    @abstractmethod
    def component(self) -> Datapath | MMATile:
        """As `Design.component`."""

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """As `Design.ports`."""
        return tuple(ports_of(self._interface.signature, self.meanings))

    @property
    def port_lines(self) -> tuple[str, ...]:
        """As `Design.port_lines`."""
        return tuple(str(port) for port in self.ports)

    @cached_property
    def latency(self) -> int:
        """As `Design.latency`."""
        return self._interface.latency

    @cached_property
    def _interface(self) -> Datapath | MMATile:
        """A component that is looked at and never built."""
        component = self.component()
        never_built(component)
        return component


@dataclass(frozen=True)
class UnitDesign(FromComponent):
    """The datapath of a unit."""

    unit: Unit

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def title(self) -> str:
        return f"{self.operation.name} {self.unit.name}"

    @property
    def operation(self) -> Operation:
        return self.unit.operation

    @property
    def implementation(self) -> Implementation:
        return self.unit.implementation

    @property
    def meanings(self) -> dict[str, str]:
        operation = self.operation
        operands = {"a": vector(operation.length, operation.a), "b": vector(operation.length, operation.b)}
        if operation.scale_format is not None:
            scales = f"{vector(operation.scales_per_step, operation.scale_format)}, each for {operation.block_size} elements"
            operands |= {"scale_a": scales, "scale_b": scales}
        return operands | {"c": str(operation.c), "d": str(operation.d)}

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        chained = f"One step of {self.operation.length} products; longer ones are chained: d of one step is c of the next."
        ports = (f"{VECTORS}):", *indented(self.port_lines))
        return (("Unit:", *unit_lines(self.unit)), ports, (chained,), (one_a_cycle(self.latency),))

    def component(self) -> Datapath:
        return unit_datapath(self.unit)

    def as_table(self) -> dict[str, Any]:
        return {"unit": unit_to_toml(self.unit)}


@dataclass(frozen=True)
class MultiFormatDesign(FromComponent):
    """One datapath for T-FDPA units of several formats; its port `format` selects one of them.

    Raises:
        ValueError: units that cannot share a datapath.
    """

    units: tuple[Unit, ...]

    def __post_init__(self) -> None:
        check_units(self.units)

    @property
    def name(self) -> str:
        """The first unit's, and how many share its datapath."""
        return f"{self.units[0].name} in {len(self.units)} formats"

    @property
    def title(self) -> str:
        return f"{self.operation.name} in {len(self.units)} formats"

    @property
    def operation(self) -> Operation:
        return self.units[0].operation

    @property
    def implementation(self) -> Implementation:
        return self.units[0].implementation

    @property
    def meanings(self) -> dict[str, str]:
        operands = UnitDesign(self.units[0]).meanings
        unused = len(self.units) & (len(self.units) - 1) or len(self.units) == 1
        other = "; with any other number there are no products" if unused else ""
        select = {"format": f"which unit{other}"}
        return {key: operands[key] for key in ("a", "b")} | select | {key: operands[key] for key in ("c", "d")}

    @property
    def port_lines(self) -> tuple[str, ...]:
        """As the ports, but a and b once for each unit."""
        operands = [
            f"{replace(port, meaning=UnitDesign(unit).meanings[port.name])}; format = {number}"
            for number, unit in enumerate(self.units)
            for port in self.ports[:2]
        ]
        return (*operands, *(str(port) for port in self.ports[2:]))

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        units = ((f"Unit where format = {number}:", *unit_lines(unit)) for number, unit in enumerate(self.units))
        ports = (f"{VECTORS}, w as the selected unit has it):", *indented(self.port_lines))
        return (*units, ports, (one_a_cycle(self.latency),))

    def component(self) -> MultiFormatDatapath:
        return MultiFormatDatapath(check_units(self.units), self.implementation)

    def as_table(self) -> dict[str, Any]:
        return {"formats": [unit_to_toml(unit) for unit in self.units]}


@dataclass(frozen=True)
class TileDesign(FromComponent):
    """The tile of an instruction of the catalogue, to which `dataclasses.replace` may have given another m or n.

    Raises:
        ValueError: a tile that cannot be built, or is too large to be.
    """

    instruction: Instruction
    implementation: Implementation

    def __post_init__(self) -> None:
        check_tile(self.instruction, self.implementation)
        i = self.instruction
        products = i.m * i.n * i.operation.length
        if products > MAX_TILE_PRODUCTS:
            raise ValueError(
                f"a tile must have at most {MAX_TILE_PRODUCTS} products a step, m * n * L; "
                f"got {i.m} * {i.n} * {i.operation.length} = {products}: take fewer rows or columns"
            )

    @property
    def name(self) -> str:
        i = self.instruction
        return f"{i.arch} {i.name}, {i.m}x{i.n} tile"

    @property
    def title(self) -> str:
        i = self.instruction
        return f"{i.m} x {i.n} x {i.k} tile of {i.arch} {i.name}"

    @property
    def operation(self) -> Operation:
        return self.instruction.operation

    @property
    def meanings(self) -> dict[str, str]:
        i, L = self.instruction, self.operation.length
        operands = {"a": f"{vector(L, i.a)} of each row", "b": f"{vector(L, i.b)} of each column"}
        if i.scale is not None:
            scales = vector(self.operation.scales_per_step, i.scale)
            operands |= {"scale_a": f"{scales} of each row", "scale_b": f"{scales} of each column"}
        return operands | {
            "c": f"{i.m} rows of {vector(i.n, i.c)}, read with step {TileShape(i).c_step}",
            "d": f"{i.m} rows of {vector(i.n, i.d)}",
        }

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        i, shape = self.instruction, TileShape(self.instruction)
        unit = Unit(name=i.step_name, operation=i.operation, implementation=self.implementation)
        converted = f"a and b are converted to {i.operation.a}, the sum starts from 0, and c is added to it, rounded by RNE."
        steps = [f"  {step}: {', '.join(map(str, shape.products(step)))}" for step in range(shape.steps)]
        return (
            ("Unit of each element:", *unit_lines(unit)),
            *([(converted,)] if i.fp16_order is not None else []),
            (f"{shape.steps} {'step' if shape.steps == 1 else 'steps'}; products k of each:", *steps),
            (f"{VECTORS}):", *indented(self.port_lines)),
            (f"Latency: {self.latency} cycles.",),
        )

    def component(self) -> MMATile:
        return MMATile(self.instruction, self.implementation)

    def as_table(self) -> dict[str, Any]:
        i = self.instruction
        return {"tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n}, "implementation": asdict(self.implementation)}


def as_design(design: Unit | Design) -> Design:
    """A unit as a design, a design as it is."""
    return UnitDesign(design) if isinstance(design, Unit) else design


def design_from_table(table: Mapping[str, Any]) -> Design:
    """The design that `Design.as_table` described."""
    if "unit" in table:
        return UnitDesign(_unit(table["unit"]))
    if "formats" in table:
        return MultiFormatDesign(tuple(map(_unit, table["formats"])))
    arch, name, m, n = (table["tile"][key] for key in ("arch", "name", "m", "n"))
    return TileDesign(replace(golden.instruction(arch, name), m=m, n=n), Implementation(**table["implementation"]))


def ports_of(signature: Signature, meanings: Mapping[str, str]) -> Iterator[Port]:
    """The ports of a component's signature, in the order of the meanings, clock and handshake last.

    Raises:
        ValueError: a port without a meaning, or a meaning without a port.
    """
    members = signature.members
    clocked = HANDSHAKE if set(HANDSHAKE) <= set(members) else {}
    known = {**meanings, **clocked}
    if set(known) != set(members):
        raise ValueError(f"ports {sorted(members)} must each have a meaning; there are meanings of {sorted(known)}")
    for name, meaning in {**meanings, **(CLOCK if clocked else {}), **clocked}.items():
        if name in CLOCK:
            yield Port("input", name, 1, meaning)
        else:
            direction: Direction = "output" if members[name].flow == Flow.Out else "input"
            yield Port(direction, name, Shape.cast(members[name].shape).width, meaning)


def never_built(component: Any) -> None:
    """Tell Amaranth that a component and those it made are not meant to be built; it would warn when they are deleted."""
    for part in (component, *vars(component).values()):
        if isinstance(part, Elaboratable):
            part._MustUse__used = True  # type: ignore[attr-defined]  # private to Amaranth


def vector(count: int, element: Format) -> str:
    """A vector, in words."""
    return f"{count} x {element} (w = {element.width})"


def unit_lines(unit: Unit) -> Paragraph:
    """A unit's file."""
    return indented(unit_to_toml(unit).splitlines())


def indented(lines: Any) -> Paragraph:
    """Lines of a header, set in."""
    return tuple(f"  {line}".rstrip() for line in lines)


def one_a_cycle(stages: int) -> str:
    """How long a datapath takes, in words."""
    return f"Latency: {stages} cycles, one result a cycle." if stages else "Combinational."


def _unit(text: str) -> Unit:
    return unit_from_table(tomllib.loads(text))
