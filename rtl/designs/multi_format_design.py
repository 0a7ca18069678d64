"""A datapath of several formats as a design."""

from dataclasses import dataclass, replace
from typing import Any

from golden import Implementation, Operation, Unit
from golden.units.unit_file import unit_to_toml
from rtl.designs.design import VECTORS, FromComponent, Paragraph, indented, one_a_cycle, unit_lines
from rtl.designs.multi_format import MultiFormatDatapath, check_units
from rtl.designs.ports import Elements, step_operands
from rtl.designs.unit_design import UnitDesign


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
        """Name of the first unit, and the number of units that share its datapath."""
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
        meanings = UnitDesign(self.units[0]).meanings
        unused = len(self.units) & (len(self.units) - 1) or len(self.units) == 1
        other = "; with any other number there are no products" if unused else ""
        select = {"format": f"which unit{other}"}
        return {key: meanings[key] for key in ("a", "b")} | select | {key: meanings[key] for key in ("c", "d")}

    @property
    def operands(self) -> dict[str, Elements]:
        """The elements of c and d; those of a and b differ from format to format."""
        operands = step_operands(self.operation)
        return {key: operands[key] for key in ("c", "d")}

    @property
    def port_lines(self) -> tuple[str, ...]:
        """The ports as the header lists them, a and b once for each unit."""
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
