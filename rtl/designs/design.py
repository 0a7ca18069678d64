"""The base class of generated designs: the datapath of a unit, one datapath of several formats, the tile of an instruction.

A design derives its ports, their widths and its latency from its Amaranth component, and describes them in words. Verilog,
cost reports, testbenches and lists use these descriptions. Each kind of design has its own module.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

from golden import Implementation, Operation, Unit
from golden.units.unit import Choice
from golden.units.unit_file import unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.ports import OPERANDS, Echo, Elements, Port, ports_of, step_operands
from rtl.designs.tile import MMATile
from rtl.steps.component import never_built

VECTORS = "Ports (element k of a vector in bits [k*w, (k+1)*w)"

Paragraph = tuple[str, ...]
"""Lines of a header that form one paragraph."""


class Design(Protocol):
    """A datapath or tile that can be written as Verilog, measured and co-simulated."""

    @property
    def name(self) -> str:
        """Name of the design in tables and messages."""

    @property
    def title(self) -> str:
        """Description of the design in the header of its Verilog."""

    @property
    def operation(self) -> Operation:
        """The operation of the design's datapaths; with several formats, that of the first."""

    @property
    def implementation(self) -> Implementation:
        """The implementation options of the design's datapaths."""

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The header of its Verilog, without the first line."""

    def component(self) -> Datapath | MMATile:
        """A new Amaranth component.

        Raises:
            ValueError: parameters that no component can hold.
        """

    def as_table(self) -> dict[str, Any]:
        """The design as values for JSON, from which `design_from_table` makes an equal design."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Every port once, in the order of the header."""

    @property
    def port_lines(self) -> tuple[str, ...]:
        """The ports as its header lists them."""

    @property
    def latency(self) -> int:
        """Cycles from operands to result if nothing stalls; 0 if the design is combinational."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What its inputs choose among; one of a plain unit, none of a tile, whose steps are those of an instruction."""

    @property
    def mask(self) -> str:
        """The input that masks products; empty if there is none."""

    @property
    def metadata(self) -> str:
        """The input that selects elements of b; empty if there is none."""

    @property
    def further(self) -> tuple[str, ...]:
        """The inputs that hold random bits or zero points of each result."""

    @property
    def shared_inputs(self) -> Mapping[str, int]:
        """The widths of inputs that are no operands and that all results of a vector share."""

    @property
    def echoes(self) -> tuple[Echo, ...]:
        """Outputs that return an input."""


def operand_names(design: Design) -> tuple[str, ...]:
    """The ports of operands that each result has for itself, and of d, as far as a design has them."""
    return (*OPERANDS, design.mask, design.metadata, *design.further)


class WithoutChoices:
    """The properties of a design without inputs that choose its arithmetic and outputs that return an input."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What inputs choose among, as `Design.choices`."""
        return ()

    @property
    def mask(self) -> str:
        """The input that masks products; empty if there is none."""
        return ""

    @property
    def metadata(self) -> str:
        """The input that selects elements of b; empty if there is none."""
        return ""

    @property
    def further(self) -> tuple[str, ...]:
        """The inputs with random bits or zero points."""
        return ()

    @property
    def shared_inputs(self) -> Mapping[str, int]:
        """The widths of further inputs, as `Design.shared_inputs`."""
        return {}

    @property
    def echoes(self) -> tuple[Echo, ...]:
        """Outputs that return an input."""
        return ()


class FromComponent(WithoutChoices, ABC):
    """The properties that a design derives once from its component."""

    @property
    @abstractmethod
    def meanings(self) -> Mapping[str, str]:
        """Each port's meaning, in the order of the header, clock and handshake aside."""

    @property
    @abstractmethod
    def operands(self) -> Mapping[str, Elements]:
        """The contents of those ports that are vectors of elements of one format."""

    @abstractmethod
    def component(self) -> Datapath | MMATile:
        """A new Amaranth component of the design; raises what `Design.component` raises."""

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Every port of the component once, in the order of the header."""
        return tuple(ports_of(self._interface.signature, self.meanings, self.operands))

    @property
    def port_lines(self) -> tuple[str, ...]:
        """The ports as the header lists them."""
        return tuple(str(port) for port in self.ports)

    @cached_property
    def latency(self) -> int:
        """Cycles from operands to result if nothing stalls; 0 if the component is combinational."""
        return self._interface.latency

    @cached_property
    def _interface(self) -> Datapath | MMATile:
        """A component whose ports are read and which is never built."""
        component = self.component()
        never_built(component)
        return component


class OfUnit(FromComponent):
    """The properties of a design that are those of its unit."""

    unit: Unit

    @property
    def name(self) -> str:
        """Name of the unit."""
        return self.unit.name

    @property
    def title(self) -> str:
        """Description of the unit in the header of its Verilog."""
        return f"{self.operation.name} {self.unit.name}"

    @property
    def operation(self) -> Operation:
        """The operation of one step."""
        return self.unit.operation

    @property
    def implementation(self) -> Implementation:
        """The implementation options of the unit."""
        return self.unit.implementation

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What the unit's inputs choose among."""
        return self.unit.choices

    @property
    def operands(self) -> dict[str, Elements]:
        """The operands and the result of one step."""
        return step_operands(self.operation)


def unit_lines(unit: Unit) -> Paragraph:
    """The lines of a unit's file, indented for a header."""
    return indented(unit_to_toml(unit).splitlines())


def indented(lines: Any) -> Paragraph:
    """Lines, indented for a header."""
    return tuple(f"  {line}".rstrip() for line in lines)


def one_a_cycle(stages: int) -> str:
    """The latency and throughput of a datapath as a sentence."""
    return f"Latency: {stages} cycles, one result a cycle." if stages else "Combinational."
