"""`mmau list`: the instructions of the catalogue."""

import argparse
from collections.abc import Sequence
from functools import cache

import golden
from golden.checks import check_choice
from golden.text import table
from mmau import OK
from mmau.analysis.silicon_evidence import recorded_rows
from mmau.cli.json_objects import print_object
from mmau.prove.records import Known, committed


def run_list(arguments: argparse.Namespace) -> int:
    """Run `mmau list` and return its exit status."""
    entries = golden.instructions(arguments.arch) + golden.sparse_instructions(arguments.arch)
    if arguments.format is not None:
        check_choice("format", arguments.format, golden.FORMATS)
        entries = [entry for entry in entries if arguments.format in (entry.a.name, entry.b.name)]
    recorded = recorded_rows()
    remark = not_compared([known for entry in entries for known in known_of(entry.operation)])
    if arguments.json:
        listed = [
            entry.as_dict() | {"recorded_rows": recorded[entry.arch, entry.name], "datapaths": datapaths(entry)}
            for entry in entries
        ]
        print_object("list", {"instructions": listed, "not_recorded": committed().problems, "not_compared": remark})
        return OK
    rows = [("arch", "instruction", "operation", "parameters", "evidence", "recorded", "simulated", "proved")]
    rows += [
        (
            e.arch,
            e.name,
            e.operation.name,
            parameter_text(e),
            e.evidence,
            f"{recorded[e.arch, e.name]:,}",
            *recorded_text(known_of(e.operation)),
        )
        for e in entries
    ]
    print(table(rows))
    part = None if arguments.arch is None else golden.part(arguments.arch)
    if part is not None and part.note:
        print(f"{part.name} is {part.target}, read as {part.arch}: {part.note}")
    for line in (*committed().problems.values(), *([remark] if remark else [])):
        print(line)
    return OK


def parameter_text(entry: golden.Instruction) -> str:
    """The parameters that the name of an instruction does not show: `L=16 F=25 rho=RZ-FP32 …`."""
    shown = {key: value for key, value in entry.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    if entry.fp16_order is not None:
        shown["fp16_order"] = entry.fp16_order
    elif entry.order != "in-order":
        shown["order"] = entry.order
    return " ".join(f"{key}={value}" for key, value in shown.items())


@cache
def known_of(operation: golden.Operation) -> tuple[Known, ...]:
    """The recorded evidence for the datapaths of an operation."""
    return tuple(committed().of_operation(operation))


def not_compared(known: Sequence[Known]) -> str | None:
    """The reason why Verilog and questions may differ from the recorded ones; None where they are equal."""
    if all(each.is_compared for each in known):
        return None
    return (
        f"In parentheses: recorded with other {', '.join(committed().changes())}. The specifications are still the same; "
        "`mmau rtl` and `mmau cosim` compare a design's Verilog and questions too, `make formal-compare` those of all."
    )


def recorded_text(known: Sequence[Known]) -> tuple[str, str]:
    """The simulated vectors, and the number of proved datapaths; in parentheses where only the specification is compared."""
    vectors = sum(each.simulated.vectors for each in known if each.simulated is not None)
    proved = sum(each.proved is not None for each in known)
    texts = f"{vectors:,}" if vectors else "", f"{proved} of {len(known)}" if known else ""
    is_compared = all(each.is_compared for each in known)
    simulated, proved_text = ((text if is_compared else f"({text})") if text else "-" for text in texts)
    return simulated, proved_text


def datapaths(entry: golden.Instruction) -> list[dict[str, object]]:
    """The recorded evidence for each datapath of an instruction's operation, for JSON."""
    return [known.as_dict() for known in known_of(entry.operation)]
