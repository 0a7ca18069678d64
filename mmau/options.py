"""Options that several commands share: what to build, and how. What they name is `mmau.designs.chosen_design`."""

import argparse
from pathlib import Path


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
