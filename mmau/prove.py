"""`mmau prove`: the generated datapath of a unit equal to golden's operation for every input, step by step, with its
registers and their handshake where it has any; or a design of one's own equal to that operation. Exit status 1 is given for
operands or a stimulus alone that a simulation shows to be wrong."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rtl
from cosim import load_dut
from cosim.compile.errors import SimulationError
from cosim.dut.elaborate import ElaborationError
from formal.counterexample import Vector, vector
from formal.obligations.units import NotProvable, Question
from formal.outcome import OPEN, PROVED, REFUTED, step_of
from formal.own_design import OwnDesign, compare_own
from formal.pipelines.pipeline import HANDSHAKE, VALUES
from formal.pipelines.questions import assumed, datapath_questions, handshake_trace, register_questions
from formal.pipelines.replay import broken
from formal.pipelines.subjects import combinational
from formal.proving import answered
from formal.replay import replayed
from golden import Unit
from mmau import DIFFERED, OK
from mmau.designs import chosen_design

UNDECIDED = 3
"""Exit status: some obligation is open."""

STATUS = {PROVED: OK, REFUTED: DIFFERED, OPEN: UNDECIDED}


@dataclass(frozen=True)
class Shown:
    """Operands that a simulation shows to be wrong.

    Attributes:
        inputs: codes by port. got, expected: of d. explanation: the mismatch explained, lines for a terminal.
    """

    inputs: Mapping[str, int]
    got: int | str
    expected: int
    explanation: Sequence[str]

    def lines(self) -> list[str]:
        """For a terminal."""
        given = ", ".join(f"{port}={value:#x}" for port, value in self.inputs.items())
        got = self.got if isinstance(self.got, str) else f"{self.got:#x}"
        return [f"{given}: got {got}, expected {self.expected:#x}", *self.explanation]

    def as_table(self) -> dict[str, Any]:
        """For JSON."""
        return {"inputs": dict(self.inputs), "got": self.got, "expected": self.expected}


@dataclass(frozen=True)
class ShownCycles:
    """A stimulus that a simulation shows to be answered wrongly.

    Attributes:
        explanation: cycle by cycle, lines for a terminal; the last one says what is wrong.
    """

    explanation: Sequence[str]

    def lines(self) -> list[str]:
        """For a terminal."""
        return list(self.explanation)

    def as_table(self) -> dict[str, Any]:
        """For JSON."""
        return {"cycles": list(self.explanation)}


def run_prove(arguments: argparse.Namespace) -> int:
    """`mmau prove`: exit 0 proved, 1 a counter-example, 3 not decided."""
    design = chosen_design(arguments)
    if design is None:
        raise ValueError("name a design: --unit UNIT.toml, or --arch and --instr")
    if arguments.dut is not None and not isinstance(design, rtl.UnitDesign):
        raise ValueError("--dut is compared with one unit: --unit UNIT.toml, or --arch and --instr")
    if not arguments.seconds > 0:
        raise ValueError(f"--seconds must be above 0, got {arguments.seconds:g}")
    try:
        if arguments.dut is not None and isinstance(design, rtl.UnitDesign):
            return _prove_dut(arguments, design.unit)
        return _prove_design(arguments, design)
    except (ElaborationError, SimulationError, rtl.MissingTool, rtl.YosysError) as error:
        raise ValueError(error) from error


def _prove_design(arguments: argparse.Namespace, design: rtl.Design) -> int:
    stages = design.implementation.stages
    verilog = rtl.to_verilog(design, "unit")
    try:
        within = combinational(design)
        datapath = rtl.to_verilog(within, "unit") if stages else verilog
        questions = [
            *(register_questions(design, verilog, datapath) if stages else []), *datapath_questions(within, datapath)
        ]  # fmt: skip
    except NotProvable as error:
        return _report(arguments, design, OPEN, [], problem=str(error))
    verdicts = answered(questions, arguments.seconds)
    refuted = list(dict.fromkeys(question.name for question, verdict in verdicts if verdict == REFUTED))
    if not refuted:
        is_proved = {verdict for _, verdict in verdicts} == {PROVED}
        return _report(arguments, design, PROVED if is_proved else OPEN, verdicts)
    if any(name.startswith((HANDSHAKE, VALUES)) for name in refuted):
        return _registers_refuted(arguments, design, verilog, verdicts)
    if not isinstance(within, rtl.UnitDesign):
        return _report(arguments, design, OPEN, verdicts, problem="operands are looked for in datapaths of one format alone")
    unit = within.unit
    found = next(filter(None, (vector(unit, datapath, name, arguments.seconds) for name in refuted)), None)
    if found is None:
        problem = "no operands are found that lead to what refutes these steps: perhaps there are none"
        return _report(arguments, design, OPEN, verdicts, problem=problem)
    shown = _shown(unit, datapath, found)
    if shown is None:
        problem = "the operands that refute a step give golden's result in simulation: the step's specification is wrong"
        return _report(arguments, design, OPEN, verdicts, problem=problem)
    return _report(arguments, design, REFUTED, verdicts, shown=shown)


def _registers_refuted(
    arguments: argparse.Namespace, design: rtl.Design, verilog: str, verdicts: Sequence[tuple[Question, str]]
) -> int:
    """A stimulus that breaks a rule of the handshake or brings values together that do not belong together."""
    trace = handshake_trace(design, verilog, arguments.seconds)
    found = broken(design, verilog, trace)
    if found is None:
        rule = f"; a trace without operands breaks the rule: {trace.rule}" if trace is not None else ""
        problem = f"no stimulus is found whose answer a simulation shows to be wrong{rule}"
        return _report(arguments, design, OPEN, verdicts, problem=problem)
    return _report(arguments, design, REFUTED, verdicts, shown=ShownCycles(found.lines()))


def _shown(unit: Unit, verilog: str, found: Vector) -> Shown | None:
    """A counter-example replayed in co-simulation; None where the design is right there."""
    report = replayed(unit, found.inputs, verilog)
    if not report.differing:
        return None
    row = report.differing[0]
    return Shown(found.inputs, row.got, row.expected, [] if report.explanation is None else report.explanation.lines())


def _prove_dut(arguments: argparse.Namespace, unit: Unit) -> int:
    """A design of one's own beside the generated datapath."""
    found = compare_own(unit, load_dut(arguments.dut), arguments.seconds)
    verdict = {"equal": PROVED, "different": REFUTED, "not decided": OPEN}[found.verdict]
    if arguments.json:
        print(json.dumps(_dut_as_table(unit, verdict, found)))
    else:
        said = {PROVED: "proved equal to", REFUTED: "differs from", OPEN: "not decided whether equal to"}[verdict]
        print(f"{arguments.dut}: {said} {found.equal_to} of {unit.name}")
        by = f"by {found.decided_by}" if found.decided_by else ""
        for line in (by, *(f"where {rule}" for rule in found.assumed), *found.decided, found.reason):
            if line:
                print(f"  {line}")
        if found.expected is not None and found.got is not None:
            for line in Shown(found.inputs, found.got, found.expected, found.explanation).lines():
                print(f"  {line}".rstrip())
    return STATUS[verdict]


def _dut_as_table(unit: Unit, verdict: str, found: OwnDesign) -> dict[str, Any]:
    counterexample = None
    if found.verdict == "different":
        counterexample = {"inputs": dict(found.inputs), "got": found.got, "expected": found.expected}
    return {
        "unit": unit.name, "equal_to": found.equal_to, "verdict": verdict, "assumed": list(found.assumed),
        "decided": list(found.decided), "decided_by": found.decided_by, "problem": found.reason,
        "counterexample": counterexample, "explanation": list(found.explanation),
    }  # fmt: skip


def _report(
    arguments: argparse.Namespace,
    design: rtl.Design,
    verdict: str,
    verdicts: Sequence[tuple[Question, str]],
    problem: str = "",
    shown: Shown | ShownCycles | None = None,
) -> int:
    """Say what came of it."""
    steps: dict[str, list[int]] = {}
    for question, each in verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += each == PROVED
        counts[1] += 1
    left = [f"{question.name}: {each}" for question, each in verdicts if each != PROVED]
    built = design.implementation
    where = assumed(design) if built.stages else ()
    if arguments.json:
        table = {
            "unit": design.name, "encoding": built.encoding, "stages": built.stages, "verdict": verdict, "steps": steps,
            "assumed": list(where), "not_proved": left, "problem": problem,
            "counterexample": None if shown is None else shown.as_table(),
            "explanation": [] if shown is None else list(shown.explanation),
        }  # fmt: skip
        print(json.dumps(table))
    else:
        stages = f", {built.stages} {'stage' if built.stages == 1 else 'stages'}" if built.stages else ""
        print(f"{design.name}, {built.encoding}{stages}: {'not decided' if verdict == OPEN else verdict}")
        for line in where:
            print(f"  where {line}")
        for step, (proved, count) in steps.items():
            print(f"  {step}: {proved} of {count} obligations proved")
        for line in [problem, *left, *(shown.lines() if shown is not None else [])]:
            if line:
                print(f"  {line}".rstrip())
    return STATUS[verdict]
