"""`mmau prove`: prove the generated Verilog of a design, with its registers and their handshake, or a user design, equal to
golden's operation for every input. Exit status 1 means that there is a counter-example and a simulation confirms it."""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import rtl
from cosim.lint.complaints import WIDTHS
from golden.checks import check_choice, check_least
from golden.files import check_output, is_stdout, write_output
from golden.html import element, page, table
from mmau import DIFFERED, OK, UNDECIDED, WRONG_REQUEST
from mmau.cli.chosen_design import chosen_design
from mmau.cli.json_objects import print_object
from mmau.cli.options import WHICH_DESIGN
from mmau.cli.user_design import described_dut
from mmau.jobs.runs import ProgressLine, duration
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
    for name in ("store", "jobs", "scheduler"):
        if getattr(arguments, name) is not None and arguments.dut is None:
            raise ValueError(f"--{name} is for a design that --dut describes")
    if arguments.jobs is not None:
        check_least("--jobs", arguments.jobs, 1)
    for code in arguments.waive:
        check_choice("--waive", code, WIDTHS)
    if arguments.html is not None:
        if is_stdout(arguments.html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(arguments.html, [] if arguments.dut is None else [arguments.dut])
    found = _decision(design, arguments)
    heading, table = _of(design, arguments.dut, found)
    if arguments.html is not None:
        write_output(arguments.html, html_of(heading, found).encode())
    if arguments.json:
        print_object("prove", table | found.as_table())
    elif arguments.html is None or not is_stdout(arguments.html):
        print("\n".join([heading, *(f"  {line}".rstrip() for line in found.lines())]))
    no_circuit = isinstance(found, UserDesignDecision) and found.no_circuit and found.verdict == OPEN
    return WRONG_REQUEST if no_circuit else STATUS[found.verdict]


def _decision(design: rtl.Design, arguments: argparse.Namespace) -> Decision:
    if arguments.dut is None:
        return prove(design, arguments.seconds)
    cases = Cases(arguments.seconds)
    found = prove(
        design, arguments.seconds, arguments.dut, arguments.waive, arguments.store,
        jobs=arguments.jobs, scheduler=arguments.scheduler, report=cases.take,
    )  # fmt: skip
    cases.end()
    return found


class Cases(ProgressLine):
    """Prints how many cases of a proof are decided, and the time that the others take at the pace of these.

    Args:
        seconds: the limit of the proof.
    """

    def __init__(self, seconds: float, stream: TextIO | None = None) -> None:
        super().__init__("proof", stream)
        self._end, self._name, self._decided, self._count = self._started + seconds, "", 0, 0

    def take(self, found: Mapping[str, Any]) -> None:
        """Take what is known of the decision."""
        if "cases" in found:
            cases = found["cases"]
            self._decided, self._count = cases["decided"], cases["decided"] + len(cases["open"])
            if cases["name"] != self._name:
                self._name, self._started = cases["name"], time.monotonic()
            self.show_in_time()

    def end(self) -> None:
        """Leave the line on a terminal."""
        if self._on_terminal and self._count:
            self.show(last=True)

    def line(self) -> str:
        now, left = time.monotonic(), self._count - self._decided
        words = [f"{self._name}{self._decided} of {self._count} cases decided"]
        if self._decided and left:
            words.append(f"{duration((now - self._started) / self._decided * left)} more at their pace")
        return ", ".join([*words, f"{duration(max(0.0, self._end - now))} at most"])


def html_of(heading: str, found: Decision) -> str:
    """The page of a decision: its verdict, the cases that are decided and those that are open, and everything else."""
    parts = [element("p", heading, class_="passed" if found.verdict == PROVED else "failed")]
    rest = found.lines()
    if isinstance(found, UserDesignDecision):
        rows = [*((case, "open") for case in found.open), *((case, "decided") for case in found.decided)]
        parts.append(table(("case", "state"), rows, "Cases of the operands"))
        rest = [line for line in rest if line not in found.decided]
    return page("Proof", *parts, element("pre", "\n".join(rest), tabindex="0"))


def _of(design: rtl.Design, dut: Path | None, found: Decision) -> tuple[str, dict[str, Any]]:
    """The heading of the report, and the JSON keys of the design."""
    if isinstance(found, UserDesignDecision):
        return f"{dut}: {VERDICTS[found.verdict]} {found.equal_to} of {design.name}", {"unit": design.name}
    built = design.implementation
    stages = f", {built.stages} {'stage' if built.stages == 1 else 'stages'}" if built.stages else ""
    verdict = "not decided" if found.verdict == OPEN else found.verdict
    table = {"unit": design.name, "encoding": built.encoding, "stages": built.stages}
    return f"{design.name}, {built.encoding}{stages}: {verdict}", table
