"""A unit as a design."""

from dataclasses import dataclass
from typing import Any

from golden import Unit
from golden.units.unit_file import unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import VECTORS, Design, OfUnit, Paragraph, indented, one_a_cycle, unit_lines
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import step_meanings
from rtl.designs.product_design import SumsDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit import unit_datapath


@dataclass(frozen=True)
class UnitDesign(OfUnit):
    """The datapath of one step of a unit, whatever the unit's table [chain]."""

    unit: Unit

    def __post_init__(self) -> None:
        if self.unit.sums is not None:
            raise ValueError(f"{self.unit.name} has a table [sums]: rtl.as_design(unit) gives its design, not UnitDesign")
        if self.unit.controls:
            raise ValueError(f"{self.unit.name} has [controls]: rtl.as_design(unit) gives its design, not UnitDesign")
        object.__setattr__(self, "unit", self.unit.step)

    @property
    def meanings(self) -> dict[str, str]:
        return step_meanings(self.operation)

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        chained = f"One step of {self.operation.length} products; longer ones are chained: d of one step is c of the next."
        ports = (f"{VECTORS}):", *indented(self.port_lines))
        steps = ((chained,),) if "c" in self.operation.operands else ()
        return (("Unit:", *unit_lines(self.unit)), ports, *steps, (one_a_cycle(self.latency),))

    def component(self) -> Datapath:
        return unit_datapath(self.unit)

    def as_table(self) -> dict[str, Any]:
        return {"unit": unit_to_toml(self.unit)}


def as_design(design: Unit | Design) -> Design:
    """A unit as a design, as its array if it has one; a design is returned unchanged."""
    if not isinstance(design, Unit):
        return design
    if design.sums is not None:
        return SumsDesign.of(design)
    if design.array is not None:
        return TileDesign.of_unit(design)
    if MultiFormatDesign.is_of(design):
        return MultiFormatDesign.of(design)
    return ControlledDesign.of(design) if design.controls else UnitDesign(design)
