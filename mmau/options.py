"""Options that several commands share: what to build, and how. What they name is `mmau.designs.chosen_design`."""

import argparse
from pathlib import Path
from typing import Any


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


def add_dut_options(command: argparse.ArgumentParser) -> None:
    """A design of one's own in place of the generated one."""
    files: dict[str, Any] = {"type": Path, "action": "extend"}
    command.add_argument("--dut", nargs="+", metavar="FILE", help="DUT.toml, or Verilog files with --top", **files)
    command.add_argument(
        "--dut-template",
        nargs="*",
        metavar="FILE.v",
        help="print a DUT.toml for these files, or those of -f, with --top",
        **files,
    )
    command.add_argument("--top", metavar="NAME", help="the top module of the files")
    command.add_argument("--ports", type=Path, metavar="PORTS.toml", help="[ports]: our port names to yours")
    command.add_argument("-I", dest="include", action="append", metavar="DIR", help="folder of included files")
    command.add_argument("-D", dest="define", action="append", metavar="X=Y", help="a macro")
    command.add_argument("-G", dest="parameter", action="append", metavar="P=V", help="a parameter of the top module")
    command.add_argument("-f", dest="filelist", type=Path, metavar="LIST", help="a list of files and options")
    command.add_argument(
        "--verilator-args",
        action="append",
        metavar="ARGS",
        help="further arguments of Verilator: --verilator-args=-Wno-LATCH",
    )


def add_run_options(command: argparse.ArgumentParser) -> None:
    """Which vectors a co-simulation sends, when it ends, and what it leaves."""
    command.add_argument(
        "--only", action="append", metavar="CLASS", help="send vectors of this class alone; may be repeated"
    )
    command.add_argument("--exclude", action="append", metavar="CLASS", help="send none of this class; may be repeated")
    command.add_argument("--vector", type=int, metavar="N", help="send vector N of the run alone, as a report numbers it")
    command.add_argument("--fail-fast", action="store_true", help="stop at the first mismatch")
    command.add_argument("--junit", type=Path, metavar="FILE", help="also write a report as JUnit XML")
    command.add_argument("--html", type=Path, metavar="FILE", help="also write a report as one HTML page")
    command.add_argument(
        "--coverage-file",
        type=Path,
        metavar="FILE",
        help="add the bins that were hit to this file's, JSON; see docs/coverage.md",
    )
    command.add_argument("--ucis", type=Path, metavar="FILE", help="also write the coverage as UCIS XML")
    command.add_argument(
        "--rtl-coverage",
        type=Path,
        metavar="FILE.info",
        help="count the lines of the Verilog that are executed and the bits that toggle; lines as lcov info",
    )
    command.add_argument("--work", type=Path, metavar="DIR", help="build in this folder and keep it, with the logs")
