"""`mmau rtl`: Verilog, and what it costs."""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rtl
from formal.evidence import committed
from golden.files import check_output, is_stdout, write_output
from jobs.contents import design_key, verilog_digest
from mmau import OK
from mmau.designs import chosen_design
from rtl.verilog.headers import with_paragraph


def run_rtl(arguments: argparse.Namespace) -> int:
    """`mmau rtl`."""
    design = chosen_design(arguments)
    if design is None:
        raise ValueError("name a unit: --unit UNIT.toml, or --arch and --instr")
    if arguments.output is None and not arguments.report:
        raise ValueError("say what is wanted: -o UNIT.v for the Verilog, --report for the cost, or both")
    if arguments.output is not None and not arguments.output.absolute().parent.is_dir():
        raise ValueError(f"-o must name a file in an existing folder, got {arguments.output}")
    inputs = [path for path in (arguments.unit, *(arguments.also or [])) if path is not None]
    if arguments.output is not None:
        check_output(arguments.output, inputs)
    to_stdout = arguments.output is not None and is_stdout(arguments.output)
    if to_stdout and arguments.json:
        raise ValueError("--json and -o - both write to stdout; give -o a file")
    try:
        report = rtl.cost_report(design, progress) if arguments.report else None
        top = None if arguments.output is None else write_verilog(design, arguments.output, inputs)
    except (rtl.YosysError, rtl.MissingTool) as error:
        raise ValueError(error) from error
    if arguments.json:
        found: dict[str, Any] = {"unit": design.name, "latency": design.latency}
        found |= {} if top is None else {"output": str(arguments.output), "top": top}
        found |= {} if report is None else {"report": report.as_dict()}
        print(json.dumps(found))
        return OK
    said = sys.stderr if to_stdout else sys.stdout
    if top is not None:
        print(f"{design.name}: module {top} in {'stdout' if to_stdout else arguments.output}", file=said)
        print("\n".join(f"  {line}" for line in design.port_lines), file=said)
    if report is not None:
        print(report.text(design.name), file=said)
    return OK


def progress(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


def write_verilog(design: rtl.Design, path: Path, inputs: Sequence[Path]) -> str:
    """Write the Verilog of a design, with what is known of it; the top module, whose name is returned, is named after the
    file."""
    top = "unit" if is_stdout(path) else re.sub(r"\W", "_", path.stem)
    top = top if re.match(r"[A-Za-z_]", top) else f"unit_{top}"
    verilog = rtl.to_verilog(design, top)
    known = committed().of_design(design_key(design.as_table()), verilog_digest(verilog, top))
    write_output(path, with_paragraph(verilog, known.lines()).encode(), inputs)
    return top
