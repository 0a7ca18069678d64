"""Designs with registers or of several formats: the combinational datapath of each, and which are proved."""

from dataclasses import replace

from cosim.regressions.main_job import main_units
from formal.obligations.units import NotProvable
from formal.pipelines.registers import Shape
from golden import Implementation, Unit
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.samples import multi_format_designs, tile_designs
from rtl.designs.tile_design import TileDesign
from rtl.designs.tile_shape import TileShape
from rtl.designs.unit_design import UnitDesign


def datapath_of(design: Design) -> Unit:
    """The unit whose combinational datapath a design of one format consists of.

    Raises:
        NotProvable: a design of several formats.
    """
    built = without_stages(design.implementation)
    match design:
        case UnitDesign():
            return replace(design.unit, implementation=built)
        case TileDesign():
            return Unit(name=design.instruction.step_name, operation=design.operation, implementation=built)
    raise NotProvable(f"{design.name} is made of no one unit's datapath")


def combinational(design: Design) -> Design:
    """The combinational datapath that a design consists of."""
    if isinstance(design, MultiFormatDesign):
        built = without_stages(design.implementation)
        return MultiFormatDesign(tuple(replace(unit, implementation=built) for unit in design.units))
    return UnitDesign(datapath_of(design))


def without_stages(implementation: Implementation) -> Implementation:
    """The same without registers."""
    return replace(implementation, stages=0)


def shape_of(design: Design) -> Shape:
    """How many registers and steps a design is meant to have."""
    steps = TileShape(design.instruction).steps if isinstance(design, TileDesign) else 1
    return Shape(design.implementation.stages, steps)


def pipeline_subjects() -> list[Design]:
    """What is proved beside combinational units: units of the main job with registers, sample tiles, and datapaths of
    several formats with and without registers."""
    units = [unit for unit in main_units() if unit.implementation.stages]
    return [*map(UnitDesign, units), *multi_format_designs(), *tile_designs()]
