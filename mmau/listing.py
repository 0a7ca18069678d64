"""`mmau list`: the instructions of the catalogue."""

import argparse
import json
from collections.abc import Sequence
from functools import cache

import golden
from formal.evidence import Known, committed
from golden.text import table
from jobs.contents import operation_key
from mmau import OK


def run_list(arguments: argparse.Namespace) -> int:
    """`mmau list`."""
    entries = golden.instructions(arguments.arch)
    if arguments.json:
        listed = [entry.as_dict() | {"datapaths": datapaths(entry)} for entry in entries]
        print(json.dumps({"instructions": listed, "not_recorded": committed().problems}))
        return OK
    rows = [("arch", "instruction", "operation", "parameters", "evidence", "simulated", "proved")]
    rows += [
        (e.arch, e.name, e.operation.name, parameter_text(e), e.evidence, *recorded_text(known_of(e.operation)))
        for e in entries
    ]
    print(table(rows))
    return OK


def parameter_text(entry: golden.Instruction) -> str:
    """The parameters that the name of an instruction does not show: `L=16 F=25 rho=RZ-FP32 …`."""
    shown = {key: value for key, value in entry.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    if entry.fp16_order is not None:
        shown["fp16_order"] = entry.fp16_order
    return " ".join(f"{key}={value}" for key, value in shown.items())


@cache
def known_of(operation: golden.Operation) -> tuple[Known, ...]:
    """What is recorded of the datapaths of an operation."""
    return tuple(committed().of_operation(operation_key(operation)))


def recorded_text(known: Sequence[Known]) -> tuple[str, str]:
    """Vectors, and how many datapaths are proved of those that were put to a proof."""
    vectors = sum(each.simulated.vectors for each in known if each.simulated is not None)
    proved = sum(each.proved is not None for each in known)
    return f"{vectors:,}" if vectors else "-", f"{proved} of {len(known)}" if known else "-"


def datapaths(entry: golden.Instruction) -> list[dict[str, object]]:
    """What is recorded of each datapath of an instruction's operation, for JSON."""
    return [known.as_dict() for known in known_of(entry.operation)]
