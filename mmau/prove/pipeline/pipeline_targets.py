"""Designs with registers or of several formats: the combinational datapath and the intended structure of each."""

from dataclasses import replace

from golden import Unit
from mmau.prove.datapath.unit_questions import TOP, NotProvable
from mmau.prove.pipeline.register_roles import Shape
from rtl.datapath.base import Datapath, in_parts
from rtl.designs.design import Design, never_built
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile import TileShape
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import modules


def datapath_of(design: Design) -> Unit:
    """The unit whose combinational datapath a design of one format consists of.

    Raises:
        NotProvable: a design of several formats.
    """
    built = design.implementation.combinational
    match design:
        case UnitDesign():
            return replace(design.unit, implementation=built)
        case TileDesign():
            return Unit(name=design.instruction.step_name, operation=design.operation, implementation=built)
    raise NotProvable(f"{design.name} must consist of the datapath of one unit")


def combinational(design: Design) -> Design:
    """The combinational datapath that a design consists of."""
    if isinstance(design, MultiFormatDesign):
        built = design.implementation.combinational
        return MultiFormatDesign(tuple(replace(unit, implementation=built) for unit in design.units))
    return UnitDesign(datapath_of(design))


def parts_of(design: Design) -> str | None:
    """The Verilog of the combinational datapath, divided into the parts that the design's registers cut its steps into. Its
    top module is called `unit`. None where registers cut no step."""
    datapath = combinational(design).component()
    never_built(datapath)
    assert isinstance(datapath, Datapath)
    parts = in_parts(datapath, design.implementation.registers)
    return None if parts is None else modules(parts, TOP)


def shape_of(design: Design) -> Shape:
    """The intended numbers of registers and steps of a design."""
    steps = TileShape(design.instruction).steps if isinstance(design, TileDesign) else 1
    return Shape(design.implementation.stages, steps)
