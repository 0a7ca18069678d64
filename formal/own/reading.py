"""The Verilog of a design as a circuit of words and registers: Verilator preprocesses it, Yosys reads it."""

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosim.compile.sources import Sources, sources_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import ElaborationError
from cosim.dut.log import first_error
from cosim.dut.wrapper import WRAPPER
from golden import Unit
from rtl.cost.flow import YosysFailure, run_yosys
from rtl.designs.unit_design import UnitDesign
from rtl.tools import run_tool

READ = (
    f"read_slang --threads 1 --top {WRAPPER} dut.sv; hierarchy -check -top {WRAPPER}; proc -noopt; "
    "chformal -remove; setundef -undriven -anyseq; flatten; setundef -undriven -anyseq; memory_collect; memory_map; "
    "opt_clean; setundef -undriven -anyseq; write_json registers.json; "
    "async2sync; opt -full; dffunmap; pmuxtree; bmuxmap; demuxmap; opt_clean; write_json circuit.json"
)
"""What is undefined may be anything at any time: it is never chosen so that two results agree; so `memory` is not among the
passes, which takes words that nothing writes for 0. Assertions and assumptions of the design count for nothing."""

REGISTERS = {
    "$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce", "$aldff", "$aldffe", "$dffsr", "$dffsre",
}  # fmt: skip

STATEFUL = re.compile(r"^\$(.*dff.*|ff|sr|.*latch.*|mem.*|fsm|.*_?DFF.*)$")


class NotCompared(Exception):
    """A design that cannot be compared; the message says why."""


def read_design(unit: Unit, dut: Dut, seconds: float) -> Mapping[str, Any]:
    """The wrapped design as a module of Yosys' JSON, flat, its registers all $dff at the rising edge of `clk`.

    Raises:
        NotCompared: Yosys cannot read it in time, or something keeps a value and is no register of the clock.
        ElaborationError: Verilator cannot read it. PortMismatch: its ports do not fit its description.
    """
    with tempfile.TemporaryDirectory(prefix="mmau-own-") as name:
        files = {"dut.sv": _preprocessed(sources_of(UnitDesign(unit), dut, Path(name)))}
    try:
        found = run_yosys("", READ, ("registers.json", "circuit.json"), files, limit=seconds)
    except YosysFailure as error:
        raise NotCompared(str(error)) from None
    _check_registers(json.loads(found["registers.json"])["modules"][WRAPPER], dut)
    circuit: Mapping[str, Any] = json.loads(found["circuit.json"])["modules"][WRAPPER]
    return circuit


def _preprocessed(sources: Sources) -> str:
    """The design and its wrapper as one text without directives."""
    command = ["verilator", "-E", "-P", *sources.arguments, *sources.verilator_args, *map(str, sources.files)]
    result = run_tool(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise ElaborationError(f"verilator cannot preprocess the sources: {first_error(result.stderr)}")
    return str(result.stdout)


def _check_registers(module: Mapping[str, Any], dut: Dut) -> None:
    """Raise NotCompared where anything keeps a value but registers that take it at the rising edge of the clock itself."""
    clock = module["ports"].get("clk", {}).get("bits")
    for name, cell in module["cells"].items():
        kind = cell["type"]
        if not kind.startswith("$"):
            raise NotCompared(f"{name} is a {kind}, of which nothing is known")
        if kind not in REGISTERS:
            if STATEFUL.match(kind):
                raise NotCompared(f"{name} keeps a value and is no register of one clock")
            continue
        if dut.protocol == "combinational":
            raise NotCompared(f"{name} is a register, in a design that is called combinational")
        rises = int(str(cell["parameters"]["CLK_POLARITY"]), 2) == 1
        if cell["connections"]["CLK"] != clock or not rises:
            raise NotCompared(f"{name} takes its value at another moment than the rising edge of {dut.clock}")
