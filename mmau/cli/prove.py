"""`mmau prove`: prove the generated Verilog of a design, with its registers and their handshake, or a user design, equal to
golden's operation for every input. Exit status 1 stands for a counter-example that a simulation confirms."""

import argparse
from pathlib import Path
from typing import Any

import rtl
from mmau import DIFFERED, OK, UNDECIDED
from mmau.cli.chosen_design import chosen_design
from mmau.cli.json_objects import print_object
from mmau.cli.options import WHICH_DESIGN
from mmau.cli.user_design import described_dut
from mmau.formal.decision import Decision
from mmau.formal.proofs_with_deadline import prove_in_time, prove_user_design_in_time
from mmau.formal.verdicts import OPEN, PROVED, REFUTED

STATUS = {PROVED: OK, REFUTED: DIFFERED, OPEN: UNDECIDED}

VERDICTS = {PROVED: "proved equal to", REFUTED: "differs from", OPEN: "not decided whether equal to"}
"""The text of each verdict on a user design."""


def run_prove(arguments: argparse.Namespace) -> int:
    """`mmau prove`: exit 0 proved, 1 a counter-example, 3 not decided."""
    design = chosen_design(arguments)
    if design is None:
        raise ValueError(WHICH_DESIGN if arguments.dut is None else f"{WHICH_DESIGN}, which --dut must equal")
    if arguments.dut is not None and not isinstance(design, rtl.UnitDesign):
        raise ValueError(f"--dut is compared with one unit, not a tile or several formats; {WHICH_DESIGN}")
    if not arguments.seconds > 0:
        raise ValueError(f"--seconds must be above 0, got {arguments.seconds:g}")
    if arguments.dut is not None and isinstance(design, rtl.UnitDesign):
        heading, table, found = _of_user_design(design, arguments.dut, arguments.seconds)
    else:
        heading, table, found = _of_design(design, arguments.seconds)
    if arguments.json:
        print_object("prove", table | found.as_table())
    else:
        print("\n".join([heading, *(f"  {line}".rstrip() for line in found.lines())]))
    return STATUS[found.verdict]


def _of_design(design: rtl.Design, seconds: float) -> tuple[str, dict[str, Any], Decision]:
    """The heading of the report, the JSON keys of the design, and the decision."""
    found, built = prove_in_time(design, seconds), design.implementation
    stages = f", {built.stages} {'stage' if built.stages == 1 else 'stages'}" if built.stages else ""
    verdict = "not decided" if found.verdict == OPEN else found.verdict
    table = {"unit": design.name, "encoding": built.encoding, "stages": built.stages}
    return f"{design.name}, {built.encoding}{stages}: {verdict}", table, found


def _of_user_design(design: rtl.UnitDesign, path: Path, seconds: float) -> tuple[str, dict[str, Any], Decision]:
    described_dut(path)  # an error of the description is reported before anything starts
    found = prove_user_design_in_time(design.unit, path, seconds)
    return f"{path}: {VERDICTS[found.verdict]} {found.equal_to} of {design.name}", {"unit": design.name}, found
