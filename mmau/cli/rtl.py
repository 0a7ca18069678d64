"""`mmau rtl`: the Verilog of a design, and its cost."""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import golden
import rtl
from golden.files import check_output, is_stdout, write_output
from mmau import OK
from mmau.cli.chosen_design import chosen_design
from mmau.cli.json_objects import print_object
from mmau.cli.options import WHICH_DESIGN
from mmau.cli.streams import progress
from mmau.prove.records import committed
from rtl.cost.liberty import DEFAULT, cells_of
from rtl.cost.library_files import check_library
from rtl.cost.meet_clock import stage_curve
from rtl.designs.identity import verilog_digest
from rtl.verilog.emit import with_paragraph


def run_rtl(arguments: argparse.Namespace) -> int:
    """Run `mmau rtl` and return its exit status."""
    cells = chosen_library(arguments)
    design = chosen_design(arguments, cells)
    if design is None:
        raise ValueError(WHICH_DESIGN)
    if arguments.output is None and not arguments.report:
        raise ValueError("no output is requested; give -o UNIT.v for the Verilog, --report for the cost, or both")
    if arguments.output is not None and not arguments.output.absolute().parent.is_dir():
        raise ValueError(f"-o must name a file in an existing folder, got {arguments.output}")
    inputs = [path for path in (arguments.unit, *(arguments.also or [])) if path is not None]
    if arguments.output is not None:
        check_output(arguments.output, inputs)
    to_stdout = arguments.output is not None and is_stdout(arguments.output)
    if to_stdout and arguments.json:
        raise ValueError("--json and -o - both write to stdout; give -o a file")
    try:
        report = cost_of(design, arguments, cells) if arguments.report else None
        top = None if arguments.output is None else write_verilog(design, arguments.output, inputs)
    except (rtl.YosysError, rtl.MissingTool, rtl.CostError) as error:
        raise ValueError(error) from error
    if arguments.json:
        found: dict[str, Any] = {"unit": design.name, "latency": design.latency}
        found |= {} if top is None else {"output": str(arguments.output), "top": top}
        found |= {} if report is None else {"report": report.as_dict()}
        print_object("rtl", found)
        return OK
    messages = sys.stderr if to_stdout else sys.stdout
    if top is not None:
        print(f"{design.name}: module {top} in {'stdout' if to_stdout else arguments.output}", file=messages)
        print("\n".join(f"  {line}" for line in design.port_lines), file=messages)
    if report is not None:
        print(report.text(design.name), file=messages)
    return OK


def chosen_library(arguments: argparse.Namespace) -> str:
    """The cell library of `--library`, or the one that the unit's file names, or the default.

    Raises:
        ValueError: there is none of this name, or nothing is measured in it.
    """
    if arguments.library is None:
        return DEFAULT if arguments.unit is None else cells_of(golden.load_unit(arguments.unit), DEFAULT)
    check_library(arguments.library)
    if not arguments.report and not has_clock(arguments):
        raise ValueError("--library goes with --report, or with clock_ns in the unit's file")
    return str(arguments.library)


def has_clock(arguments: argparse.Namespace) -> bool:
    """Whether the unit's file asks for a clock in place of stages."""
    return arguments.unit is not None and golden.load_unit(arguments.unit).implementation.clock_ns is not None


def cost_of(design: rtl.Design, arguments: argparse.Namespace, cells: str) -> rtl.CostReport:
    """The report on a design's cost, with the curve of stages where its unit's file has a clock."""
    report = rtl.cost_report(design, progress, cells)
    if not has_clock(arguments) or not isinstance(design, rtl.UnitDesign):
        return report
    return replace(report, curve=stage_curve(design.unit, progress, cells))


def write_verilog(design: rtl.Design, path: Path, inputs: Sequence[Path]) -> str:
    """Write the Verilog of a design, with its recorded evidence; return the top module, named after the file."""
    top = "unit" if is_stdout(path) else re.sub(r"\W", "_", path.stem)
    top = top if re.match(r"[A-Za-z_]", top) else f"unit_{top}"
    verilog = rtl.to_verilog(design, top)
    known = committed().of_design(design, verilog_digest(verilog, top))
    write_output(path, with_paragraph(verilog, known.lines()).encode(), inputs)
    return top
