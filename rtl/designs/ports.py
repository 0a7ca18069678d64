"""The ports of a design: their names, widths and meanings, and the elements that its operands consist of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from amaranth.hdl import Shape
from amaranth.lib.wiring import Flow, Signature

from golden import Format, Operation
from golden.arithmetic.flags import FLAGS
from rtl.datapath.base import has_flags

OPERANDS = ("a", "b", "c", "d", "scale_a", "scale_b", "format")
"""Every port that a design may have, except clock and handshake."""

CLOCK = {"clk": "rising edge", "rst": "synchronous, active high"}
"""Inputs that Amaranth adds to a component with registers: name to meaning."""

HANDSHAKE = {
    "in_valid": "the operand ports hold operands",
    "in_ready": "they are taken at this clock edge",
    "out_valid": "d holds a result; results come in order",
    "out_ready": "it is taken at this clock edge",
}
"""Ports of a component with registers: name to meaning."""

FLAG_BITS = "exception flags: " + ", ".join(f"{bit} {name}" for bit, name in enumerate(FLAGS))
"""The meaning of a port `flags`."""

CONTROL_INPUTS = ("rst", "in_valid", "out_ready")
"""The inputs of a component with registers that are neither operands nor the clock."""

Direction = Literal["input", "output"]


@dataclass(frozen=True)
class Elements:
    """The contents of a port that holds elements of one format, or a single number.

    Attributes:
        format: format of each element.
        count: number of elements.
    """

    format: Format
    count: int = 1

    @property
    def width(self) -> int:
        """Bits of all elements together."""
        return self.count * self.format.width

    def __str__(self) -> str:
        return f"{self.count} x {self.format} (w = {self.format.width})"


class Echo(NamedTuple):
    """An output that returns an input of the same transfer, or exception flags.

    Attributes:
        name, port: names of the output and of the input. width: bits of both. low: its place among the bits that are
            compared, above those of d.
        flags: the names of its bits, if they are exception flags; the input, which the testbench alone has, then holds
            golden's.
    """

    name: str
    port: str
    width: int
    low: int
    flags: tuple[str, ...] = ()


def inputs_of(table: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """The inputs beside the operands, with their widths, of a design's table."""
    return tuple((name, width) for name, width in table["inputs"])


def echoes_of(table: Mapping[str, Any]) -> tuple[Echo, ...]:
    """The outputs beside d of a design's table."""
    return tuple(Echo(name, port, width, low, tuple(flags)) for name, port, width, low, flags in table["echoes"])


def step_operands(operation: Operation) -> dict[str, Elements]:
    """The operands and the result of one step of an operation."""
    scales = {}
    if operation.scale_format is not None:
        scales = dict.fromkeys(operation.scale_operands, Elements(operation.scale_format, operation.scales_per_step))
    operands = {
        "a": Elements(operation.a, operation.length),
        "b": Elements(operation.b, operation.length),
        "c": Elements(operation.c),
    }
    return {**{name: operands[name] for name in operation.operands}, **scales, "d": Elements(operation.d)}


def step_meanings(operation: Operation) -> dict[str, str]:
    """The operands and the result of one step of an operation, and its exception flags, in words."""
    operands = step_operands(operation)
    meanings = {name: str(operands[name]) for name in operation.operands if name != "c"}
    if operation.scale_format is not None:
        each = f"each for {operation.block_size} elements"
        meanings |= {name: f"{operands[name]}, {each}" for name in operation.scale_operands}
    meanings |= {name: str(operands[name].format) for name in ("c", "d") if name in operands}
    return meanings | ({"flags": FLAG_BITS} if has_flags(operation) else {})


@dataclass(frozen=True)
class Port:
    """A port of a design.

    Attributes:
        direction: direction as seen from the design.
        width: bits.
        meaning: description for people.
        count: number of elements of equal width, element 0 in the lowest bits; 1 if the port is not a vector of one format.
    """

    direction: Direction
    name: str
    width: int
    meaning: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.direction:<6} {self.name:<9} {self.width:>4}  {self.meaning}"


def ports_of(
    signature: Signature, meanings: Mapping[str, str], operands: Mapping[str, Elements] = MappingProxyType({})
) -> Iterator[Port]:
    """The ports of a component's signature, in the order of the meanings, clock and handshake last.

    Args:
        signature: the component's signature.
        meanings: meaning of each port, except clock and handshake.
        operands: contents of those ports that are vectors of one format.

    Raises:
        ValueError: a port without a meaning, a meaning without a port, or a port of another width than its elements.
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
            width, elements = Shape.cast(members[name].shape).width, operands.get(name)
            if elements is not None and elements.width != width:
                raise ValueError(f"port {name} must have the {elements.width} bits of {elements}, got {width}")
            yield Port(direction, name, width, meaning, elements.count if elements is not None else 1)
