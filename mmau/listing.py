"""`mmau list`: the instructions of the catalogue."""

import argparse
import json

import golden
from golden.text import table
from mmau import OK


def run_list(arguments: argparse.Namespace) -> int:
    """`mmau list`."""
    entries = golden.instructions(arguments.arch)
    if arguments.json:
        print(json.dumps({"instructions": [entry.as_dict() for entry in entries]}))
        return OK
    rows = [("arch", "instruction", "operation", "parameters", "evidence")]
    rows += [(e.arch, e.name, e.operation.name, parameter_text(e), e.evidence) for e in entries]
    print(table(rows))
    return OK


def parameter_text(entry: golden.Instruction) -> str:
    """The parameters that the name of an instruction does not show: `L=16 F=25 rho=RZ-FP32 …`."""
    shown = {key: value for key, value in entry.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    if entry.fp16_order is not None:
        shown["fp16_order"] = entry.fp16_order
    return " ".join(f"{key}={value}" for key, value in shown.items())
