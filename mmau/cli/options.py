"""Groups of options that several commands share: those that name a unit, an instruction, a design, a user design or a
program, select vectors, or name files of reports."""

import argparse
from pathlib import Path
from typing import Any

from mmau.cli.command_parser import CommandParser

Group = argparse._ArgumentGroup

WHICH_DESIGN = "no design is named; give --unit UNIT.toml, or --arch A --instr NAME"
"""Message for a command line that names no design, or half of an instruction."""

DESIGN = "which design"
STIMULUS = "how much stimulus"
REPORTS = "reports"
USER_DESIGN = "a design of your own"
RUN = "how it runs"

SOURCE_OPTIONS = {
    "top": "--top", "ports": "--ports", "include": "-I", "define": "-D", "parameter": "-G", "filelist": "-f",
    "verilator_args": "--verilator-args", "ghdl_args": "--ghdl-args",
}  # fmt: skip
"""Options that describe Verilog files, by their names in the parsed arguments; a `dut.toml` has keys for them."""


def add_unit_or_instruction(command: CommandParser, title: str = DESIGN) -> Group:
    """The group with a unit's file, or an instruction of the catalogue."""
    group = command.add_argument_group(title)
    group.add_argument("--unit", type=Path, metavar="UNIT.toml", help="take the unit that this file describes")
    group.add_argument(
        "--arch", metavar="A", help="take an instruction of this architecture, by name (sm_90) or marketing name (Hopper)"
    )
    group.add_argument(
        "--instr", metavar="NAME", help="take the instruction of this name, as `mmau list --arch A` prints it"
    )
    return group


def names_design(arguments: argparse.Namespace) -> bool:
    """Whether the options of `add_unit_or_instruction` name a design.

    Raises:
        ValueError: they name two, or half of an instruction.
    """
    by_name = (arguments.arch is not None, arguments.instr is not None)
    if arguments.unit is not None and any(by_name):
        raise ValueError("give either --unit or --arch with --instr, not both")
    if any(by_name) and not all(by_name):
        raise ValueError(f"--arch and --instr go together; {WHICH_DESIGN}")
    return arguments.unit is not None or all(by_name)


def add_design_options(command: CommandParser) -> None:
    """The group of options that name a design and its implementation."""
    group = add_unit_or_instruction(command)
    group.add_argument(
        "--also",
        type=Path,
        action="append",
        metavar="UNIT.toml",
        help="put this further T-FDPA unit on the same datapath; may be repeated",
    )
    group.add_argument(
        "--tile",
        "--array",
        metavar="MxN",
        help="build a tile of M rows and N columns of the instruction, with all its steps, or such an array of the unit "
        "(default: none, or the array in the unit's file)",
    )
    group.add_argument(
        "--encoding",
        metavar="E",
        help="with --arch and --instr: encode negative terms in sign-magnitude, ones-complement or twos-complement "
        "(default: ones-complement); with --unit, set the key in the file",
    )
    group.add_argument(
        "--stages",
        type=int,
        metavar="S",
        help="put S pipeline stages in the instruction's datapath (default: 0, in a tile 1); a unit's file has a key for it",
    )


def add_seed(group: Group) -> None:
    """The seed of all random inputs."""
    group.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed the random inputs with S (default: %(default)s)"
    )


def add_json(group: Group) -> None:
    """The option that every command has."""
    group.add_argument("--json", action="store_true", help="print one machine-readable object instead of text")


def add_dut_options(command: CommandParser) -> None:
    """The group of options that name a user design."""
    group = command.add_argument_group(USER_DESIGN, "simulate this Verilog in place of the generated one")
    files: dict[str, Any] = {"type": Path, "action": "extend"}
    group.add_argument(
        "--dut",
        nargs="+",
        metavar="FILE",
        help="simulate the design that DUT.toml describes, or these Verilog files with --top",
        **files,
    )
    group.add_argument(
        "--dut-template",
        nargs="*",
        metavar="FILE.v",
        help="print a first DUT.toml for these files, or those of -f, with --top, and simulate nothing",
        **files,
    )
    group.add_argument("--top", metavar="NAME", help="take this module of the Verilog files as the design")
    group.add_argument(
        "--ports",
        type=Path,
        metavar="PORTS.toml",
        help="read the design's port names from the table [ports] of this file (default: a, b, c, d and the like)",
    )
    group.add_argument(
        "-I", dest="include", action="append", metavar="DIR", help="look for included files in DIR; may be repeated"
    )
    group.add_argument("-D", dest="define", action="append", metavar="X=Y", help="define the macro X as Y; may be repeated")
    group.add_argument(
        "-G",
        dest="parameter",
        action="append",
        metavar="P=V",
        help="set the parameter P of the top module to V; may be repeated",
    )
    group.add_argument(
        "-f",
        dest="filelist",
        type=Path,
        metavar="LIST",
        help="read file names, -I, -D and -G from this list, as simulators do",
    )
    group.add_argument(
        "--verilator-args",
        action="append",
        metavar="ARGS",
        help="pass these further arguments to Verilator, as --verilator-args=-Wno-LATCH; may be repeated",
    )
    group.add_argument(
        "--ghdl-args",
        action="append",
        metavar="ARGS",
        help="pass these further arguments to GHDL, which reads VHDL, as --ghdl-args=-fsynopsys; may be repeated",
    )


def add_selection_options(group: Group) -> None:
    """Add the options that select which vectors a co-simulation sends."""
    group.add_argument(
        "--only",
        action="append",
        metavar="CLASS",
        help="send only vectors of this class, named as in reports, such as cancel; may be repeated (default: all)",
    )
    group.add_argument(
        "--exclude",
        action="append",
        metavar="CLASS",
        help="send no vectors of this class, named as in reports; may be repeated (default: exclude none)",
    )
    group.add_argument(
        "--vector",
        type=int,
        metavar="N",
        help="send only the vector that has number N in a report; --vectors says how many to send",
    )
    group.add_argument("--fail-fast", action="store_true", help="stop at the first mismatch (default: send all vectors)")


def add_report_options(group: Group) -> None:
    """Add the options for the files that a co-simulation writes beside its table."""
    group.add_argument("--junit", type=Path, metavar="FILE", help="write the report to FILE as JUnit XML too")
    group.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page too")
    group.add_argument(
        "--coverage-file", type=Path, metavar="FILE", help="add the coverage bins that were hit to those in FILE, as JSON"
    )
    group.add_argument("--ucis", type=Path, metavar="FILE", help="write the functional coverage to FILE as UCIS XML")
    group.add_argument(
        "--rtl-coverage",
        type=Path,
        metavar="FILE.info",
        help="count the lines of the Verilog that run and the bits that toggle, and write the lines to FILE.info for lcov",
    )
    group.add_argument(
        "--work",
        type=Path,
        metavar="DIR",
        help="write the build and its logs into DIR (default: a temporary folder)",
    )


def add_program(group: Group, formats: bool = True) -> None:
    """The options that name a program.

    Args:
        formats: whether the command has an option for its formats.
    """
    group.add_argument(
        "--program",
        metavar="CMD",
        help="run this program as the device; quote it with its arguments. It reads a header line, then a row of operands a "
        "line, as `mmau vectors` writes them without d, and prints one d a line",
    )
    if formats:
        group.add_argument(
            "--formats",
            metavar="KEYS",
            help="say what the program takes: 'a=fp16 b=fp16 c=fp32 d=fp32 K=16', and scale and K_block where it is scaled "
            "(default: as the unit or the instruction)",
        )
    group.add_argument(
        "--program-form", choices=["text", "binary"], help="exchange lines of text or packed codes with it (default: text)"
    )
    group.add_argument(
        "--patience", type=float, metavar="S", help="end when the program has been silent for S seconds (default: 60)"
    )
