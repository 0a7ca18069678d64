"""The command line: `mmau list`, `eval`, `rtl`, `cosim`, `conform`.

Exit status: 0, all agreed; 1, something differed; 2, the request was wrong or a tool is missing.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from mmau import OK, WRONG_REQUEST
from mmau.options import add_design_options


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except BrokenPipeError:  # the reader has seen enough: `mmau list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"mmau {arguments.command}: {message(error)}", file=sys.stderr)
        return WRONG_REQUEST
    except KeyboardInterrupt:
        print(f"mmau {arguments.command}: interrupted", file=sys.stderr)
        return WRONG_REQUEST
    return status


def message(error: Exception) -> str:
    """One line for the user."""
    if isinstance(error, ModuleNotFoundError):
        return f"needs the package {error.name}, which is not installed; install it with: pip install 'mmau[cosim]'"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def parser() -> argparse.ArgumentParser:
    """All commands and their options (interfaces as in the README)."""
    top = argparse.ArgumentParser(prog="mmau", description="The arithmetic of matrix multiply-accumulate units, bit by bit.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="the catalogue: instruction, operation, parameters, evidence")
    listing.add_argument("--arch", help="one architecture, by name (sm_90) or marketing name (Hopper)")
    listing.set_defaults(run=lazily("catalogue", "run_list"))

    evaluate = commands.add_parser("eval", help="run an instruction on arrays a, b, c [, scale_a, scale_b] of a .npz")
    evaluate.add_argument("--arch", required=True)
    evaluate.add_argument("--instr", required=True, metavar="NAME")
    evaluate.add_argument("--input", required=True, type=Path, metavar="V.npz")
    evaluate.add_argument("--output", required=True, type=Path, metavar="D.npz")
    evaluate.add_argument("--engine", help="which engine computes; default: the fastest there is")
    evaluate.set_defaults(run=lazily("catalogue", "run_eval"))

    rtl_command = commands.add_parser("rtl", help="Verilog of a unit or a tile, and what it costs")
    add_design_options(rtl_command)
    rtl_command.add_argument("-o", "--output", type=Path, metavar="UNIT.v")
    rtl_command.add_argument("--report", action="store_true", help="cells, transistors, depth, by component")
    rtl_command.set_defaults(run=lazily("rtl", "run_rtl"))

    cosim_command = commands.add_parser("cosim", help="co-simulate datapaths against the golden model; alone: the main job")
    add_design_options(cosim_command)
    cosim_command.add_argument("--all", action="store_true", help="every datapath of the catalogue")
    cosim_command.add_argument("--coverage", action="store_true", help="every parameter set and every way to build a unit")
    cosim_command.add_argument("--vectors", type=int, default=20000, metavar="N", help="vectors of each unit (20000)")
    cosim_command.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    cosim_command.add_argument("--sim", default="verilator", metavar="SIMULATOR", help="verilator or icarus")
    cosim_command.add_argument("--mode", default="cocotb", choices=["cocotb"], help="how the simulator is driven")
    cosim_command.add_argument("--waves", action="store_true", help="leave a waveform in this folder; one unit only")
    cosim_command.add_argument(
        "--dut", type=Path, action="append", metavar="FILE.v", help="your own Verilog; may be repeated"
    )
    cosim_command.add_argument("--top", metavar="NAME", help="its top module")
    cosim_command.add_argument("--ports", type=Path, metavar="PORTS.toml", help="[ports]: our port names to yours")
    cosim_command.set_defaults(run=lazily("cosim", "run_cosim"))

    conform = commands.add_parser("conform", help="hold the model against this machine's GPU; run again to resume")
    conform.add_argument("--arch", help="the architecture that the GPU must have")
    conform.add_argument("--instr", default="*", metavar="PATTERN", help="instructions, as a shell pattern (all)")
    conform.add_argument("--vectors", type=int, default=1_000_000, metavar="N", help="results of each to compare (1000000)")
    conform.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    conform.add_argument("--record", type=Path, metavar="DIR", help="also write a recording of each into this folder")
    conform.add_argument("--seconds", type=float, metavar="S", help="stop after so long; what is done is kept")
    conform.add_argument(
        "--report", type=Path, default=Path("conform.json"), metavar="FILE", help="report and state (conform.json)"
    )
    conform.set_defaults(run=lazily("conform", "run_conform"))

    for command in (listing, evaluate, rtl_command, cosim_command, conform):
        command.add_argument("--json", action="store_true", help="print one machine-readable object instead")
    return top


def lazily(command: str, function: str) -> Callable[[argparse.Namespace], int]:
    """The command's function, of a module that is imported only when it runs: none needs the others' packages."""
    return lambda arguments: int(getattr(import_module(f"mmau.{command}"), function)(arguments))
