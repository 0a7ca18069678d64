"""A unit as a design."""

from dataclasses import dataclass
from typing import Any

from golden import Implementation, Operation, Unit
from golden.units.unit_file import unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.design import VECTORS, Design, FromComponent, Paragraph, indented, one_a_cycle, unit_lines
from rtl.designs.ports import Elements, step_operands
from rtl.designs.unit import unit_datapath


@dataclass(frozen=True)
class UnitDesign(FromComponent):
    """The datapath of one step of a unit, whatever the unit's table [chain]."""

    unit: Unit

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", self.unit.step)

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
        operation, operands = self.operation, self.operands
        vectors = [name for name in operation.operands if name != "c"]
        meanings = {name: str(operands[name]) for name in vectors}
        if operation.scale_format is not None:
            each = f"each for {operation.block_size} elements"
            meanings |= {name: f"{operands[name]}, {each}" for name in ("scale_a", "scale_b")}
        return meanings | {name: str(operands[name].format) for name in ("c", "d") if name in operands}

    @property
    def operands(self) -> dict[str, Elements]:
        return step_operands(self.operation)

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
    """A unit as a design; a design is returned unchanged."""
    return UnitDesign(design) if isinstance(design, Unit) else design
