"""Options that several commands share: what to build, and how."""

import argparse
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import golden


def add_design_options(command: argparse.ArgumentParser) -> None:
    """What to build: a unit's file, or an instruction of the catalogue, and how."""
    command.add_argument("--unit", type=Path, metavar="UNIT.toml")
    command.add_argument(
        "--also", type=Path, action="append", metavar="UNIT.toml", help="a T-FDPA unit on the same datapath; may be repeated"
    )
    command.add_argument("--arch")
    command.add_argument("--instr", metavar="NAME")
    command.add_argument("--tile", metavar="MxN", help="of the instruction, M rows and N columns with all its steps")
    command.add_argument("--encoding", help="how the instruction's datapath is built; a unit's file says it itself")
    command.add_argument("--stages", type=int, metavar="S", help="its pipeline registers (0, of a tile 1)")


@dataclass(frozen=True)
class TileChoice:
    """An instruction with the m and n of the tile that is wanted."""

    instruction: golden.Instruction
    implementation: golden.Implementation


def chosen(arguments: argparse.Namespace) -> TileChoice | tuple[golden.Unit, ...] | None:
    """What the options name: a tile, or units, of which several share a datapath; None where they name nothing.

    Raises:
        ValueError: half an instruction, both a file and an instruction, or options that do not go with either.
    """
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None and by_name != (None, None):
        raise ValueError("give either --unit or --arch with --instr, not both")
    if by_name == (None, None) and any(
        option is not None for option in (arguments.tile, arguments.encoding, arguments.stages)
    ):
        raise ValueError("--tile, --encoding and --stages go with --arch and --instr; a unit's file says how it is built")
    if arguments.also and arguments.unit is None:
        raise ValueError("--also goes with --unit")
    if arguments.unit is not None:
        return tuple(golden.load_unit(path) for path in (arguments.unit, *(arguments.also or [])))
    if by_name == (None, None):
        return None
    if None in by_name:
        raise ValueError("--arch and --instr go together")
    instruction = golden.instruction(arguments.arch, arguments.instr)
    built: dict[str, Any] = {"stages": 0 if arguments.tile is None else 1}
    given = {"encoding": arguments.encoding, "stages": arguments.stages}
    built |= {key: value for key, value in given.items() if value is not None}
    implementation = golden.Implementation(**built)
    if arguments.tile is not None:
        size = re.fullmatch(r"(\d+)x(\d+)", arguments.tile)
        if size is None:
            raise ValueError(f"--tile must be rows x columns, like 2x4; got {arguments.tile!r}")
        return TileChoice(replace(instruction, m=int(size[1]), n=int(size[2])), implementation)
    return (golden.Unit(name=instruction.step_name, operation=instruction.operation, implementation=implementation),)
