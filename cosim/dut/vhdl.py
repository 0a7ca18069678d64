"""User designs in VHDL: GHDL synthesises them to Verilog, which is then a user design like any other."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from cosim.dut.description import Dut
from cosim.dut.tool_log import ElaborationError
from golden.processes import run_tool
from rtl.tools import MissingTool

ENDINGS = (".vhd", ".vhdl")
"""Endings of the names of VHDL files."""

STANDARD = "--std=08"
"""The revision of VHDL that is read: 2008 includes nearly everything of older revisions."""

VERILOG = "from_vhdl.v"
"""The file of Verilog that GHDL writes, in the folder of a run."""

_UNKNOWN = re.compile(r"--.*\b(rtl_synthesis\s+off|read_comments_as_HDL\s+on)\b", re.IGNORECASE)
"""Comments that change what other synthesis tools read, but not what GHDL reads; it knows `translate_off`."""

_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)


def in_verilog(dut: Dut, folder: Path) -> Dut:
    """The design as Verilog; a design in Verilog is returned unchanged.

    Args:
        folder: where the Verilog is written.

    Raises:
        MissingTool: GHDL is not installed. ElaborationError: it cannot synthesise the design; the message is its first
            error.
        ValueError: VHDL and Verilog together, or options that VHDL does not have, or comments that GHDL alone does not
            follow.
    """
    others = [source.name for source in dut.sources if source.suffix.lower() not in ENDINGS]
    if len(others) == len(dut.sources):
        return dut
    if others:
        raise ValueError(f"sources must be all VHDL or all Verilog, got VHDL and {', '.join(others)}")
    if dut.include or dut.defines:
        raise ValueError("a design in VHDL has no include folders and no macros: leave include and defines out")
    for source in dut.sources:
        comment = _UNKNOWN.search(source.read_text(encoding="utf-8", errors="replace"))
        if comment is not None:
            raise ValueError(
                f"{source}: {comment[1]!r} changes what other synthesis tools read, and GHDL does not follow it: hide text "
                "by `synthesis translate_off`, show it without comment marks"
            )
    if shutil.which("ghdl") is None:
        raise MissingTool(
            f"{dut.sources[0].name} is VHDL, which GHDL must read, and ghdl is not found on PATH: install it "
            "(Debian: apt install ghdl), or give the design in Verilog"
        )
    generics = [f"-g{name}={value}" for name, value in dut.parameters.items()]
    files = [str(source.resolve()) for source in dut.sources]
    command = ["ghdl", "--synth", STANDARD, f"--workdir={folder}", *generics, "--out=verilog", *files, "-e", dut.top]
    result = run_tool(command, cwd=folder)
    if result.returncode or not result.stdout.strip():
        message = next((line for line in result.stderr.splitlines() if line.strip()), "it printed no message")
        raise ElaborationError(f"ghdl cannot synthesise {dut.top}: {message}")
    written = folder / VERILOG
    written.write_text(result.stdout, encoding="utf-8")
    modules = _MODULE.findall(result.stdout)
    top = next((module for module in modules if module.lower() == dut.top.lower()), dut.top)  # VHDL has no case
    return replace(dut, sources=(written,), parameters={}, top=top)
