"""What can be generated: the datapath of a unit, one datapath of several formats, or the tile of an instruction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from golden import Implementation, Instruction, Unit
from rtl.designs.multi_format import check_units
from rtl.designs.tile import check_tile
from rtl.designs.tile_shape import TileShape
from rtl.verilog.emit import multi_format_verilog, tile_verilog, unit_verilog
from rtl.verilog.headers import multi_format_port_layout, port_layout, tile_port_layout


@dataclass(frozen=True)
class Generated:
    """A design that can be written.

    Attributes:
        name: of its units, or of its instruction.
        ports: one line each, as in the header of its Verilog.
        latency: cycles from operands to result where nothing stalls, 0 where it is combinational.
        verilog: its text, for the name of the top module.
    """

    name: str
    ports: tuple[str, ...]
    latency: int
    verilog: Callable[[str], str]


def generated_unit(unit: Unit) -> Generated:
    """The datapath of a unit.

    Raises:
        ValueError: parameters that no datapath can hold.
    """
    return Generated(unit.name, tuple(port_layout(unit)), unit.implementation.stages, lambda top: unit_verilog(unit, top))


def generated_formats(units: Sequence[Unit]) -> Generated:
    """One datapath for T-FDPA units of several formats.

    Raises:
        ValueError: units that cannot share a datapath.
    """
    check_units(units)
    names, ports = ", ".join(unit.name for unit in units), tuple(multi_format_port_layout(units))
    return Generated(names, ports, units[0].implementation.stages, lambda top: multi_format_verilog(units, top))


def generated_tile(instruction: Instruction, implementation: Implementation) -> Generated:
    """An instruction's tile.

    Raises:
        ValueError: a tile that cannot be built.
    """
    check_tile(instruction, implementation)
    name = f"{instruction.m}x{instruction.n} tile of {instruction.arch} {instruction.name}"
    latency = TileShape(instruction).steps * implementation.stages
    ports = tuple(tile_port_layout(instruction))
    return Generated(name, ports, latency, lambda top: tile_verilog(instruction, implementation, top))
