"""`mmau prove`: prove the generated Verilog of a design, with its registers and their handshake, or a user design, equal to
golden's operation for every input. Exit status 1 means that there is a counter-example and a simulation confirms it."""

import argparse
from pathlib import Path
from typing import Any

import rtl
from cosim.lint.complaints import WIDTHS
from golden.checks import check_choice
from mmau import DIFFERED, OK, UNDECIDED, WRONG_REQUEST
from mmau.cli.chosen_design import chosen_design
from mmau.cli.json_objects import print_object
from mmau.cli.options import WHICH_DESIGN
from mmau.cli.user_design import described_dut
from mmau.prove import Decision, prove
from mmau.prove.decision import OPEN, PROVED, REFUTED, UserDesignDecision

STATUS = {PROVED: OK, REFUTED: DIFFERED, OPEN: UNDECIDED}

VERDICTS = {PROVED: "proved equal to", REFUTED: "differs from", OPEN: "not decided whether equal to"}
"""The text of each verdict on a user design."""


def run_prove(arguments: argparse.Namespace) -> int:
    """`mmau prove`: exit 0 proved, 1 a counter-example, 3 not decided, 2 where there is no circuit to prove."""
    design = chosen_design(arguments)
    if design is None:
        raise ValueError(WHICH_DESIGN if arguments.dut is None else f"{WHICH_DESIGN}, which --dut must equal")
    if arguments.dut is not None and not isinstance(design, rtl.UnitDesign | rtl.ControlledDesign):
        raise ValueError(f"--dut is compared with one unit, not a tile or several formats; {WHICH_DESIGN}")
    if arguments.seconds <= 0:
        raise ValueError(f"--seconds must be above 0, got {arguments.seconds:g}")
    if arguments.dut is not None:
        dut = described_dut(arguments.dut)  # an error of the description is reported before anything starts
        if dut.beats is not None and len(dut.beats.counts) > 1:
            raise ValueError(f"{arguments.dut}: [beats] count must be one number for a proof; mmau cosim draws the others")
    if arguments.waive and arguments.dut is None:
        raise ValueError("--waive is for a design that --dut describes")
    if arguments.store is not None and arguments.dut is None:
        raise ValueError("--store is for a design that --dut describes")
    for code in arguments.waive:
        check_choice("--waive", code, WIDTHS)
    found = prove(design, arguments.seconds, arguments.dut, arguments.waive, arguments.store)
    heading, table = _of(design, arguments.dut, found)
    if arguments.json:
        print_object("prove", table | found.as_table())
    else:
        print("\n".join([heading, *(f"  {line}".rstrip() for line in found.lines())]))
    no_circuit = isinstance(found, UserDesignDecision) and found.no_circuit and found.verdict == OPEN
    return WRONG_REQUEST if no_circuit else STATUS[found.verdict]


def _of(design: rtl.Design, dut: Path | None, found: Decision) -> tuple[str, dict[str, Any]]:
    """The heading of the report, and the JSON keys of the design."""
    if isinstance(found, UserDesignDecision):
        return f"{dut}: {VERDICTS[found.verdict]} {found.equal_to} of {design.name}", {"unit": design.name}
    built = design.implementation
    stages = f", {built.stages} {'stage' if built.stages == 1 else 'stages'}" if built.stages else ""
    verdict = "not decided" if found.verdict == OPEN else found.verdict
    table = {"unit": design.name, "encoding": built.encoding, "stages": built.stages}
    return f"{design.name}, {built.encoding}{stages}: {verdict}", table
