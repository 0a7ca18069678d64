"""`mmau prove`: the generated datapath of a unit equal to golden's operation for every input, step by step; or a design of
one's own equal to that datapath. Exit status 1 is given for operands alone that a simulation shows to be wrong."""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rtl
from cosim import load_dut
from cosim.compile.errors import SimulationError
from cosim.dut.elaborate import ElaborationError
from formal.counterexample import Vector, vector
from formal.obligations.units import NotProvable, Question, unit_questions
from formal.outcome import OPEN, PROVED, REFUTED, step_of
from formal.own_design import OwnDesign, compare_own
from formal.replay import replayed
from formal.solvers.answer import PACKAGES, MissingSolver, solver
from golden import Unit
from mmau import DIFFERED, OK
from mmau.designs import chosen_design

UNDECIDED = 3
"""Exit status: some obligation is open."""

STATUS = {PROVED: OK, REFUTED: DIFFERED, OPEN: UNDECIDED}

LEAST = 1.0
"""Seconds that a question gets, however little time is left."""


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


def run_prove(arguments: argparse.Namespace) -> int:
    """`mmau prove`: exit 0 proved, 1 a counter-example, 3 not decided."""
    design = chosen_design(arguments)
    if not isinstance(design, rtl.UnitDesign) or (design.implementation.stages and arguments.dut is None):
        raise ValueError("name one combinational unit: --unit UNIT.toml with stages = 0, or --arch and --instr")
    if not arguments.seconds > 0:
        raise ValueError(f"--seconds must be above 0, got {arguments.seconds:g}")
    try:
        return _prove_dut(arguments, design.unit) if arguments.dut is not None else _prove_unit(arguments, design.unit)
    except (ElaborationError, SimulationError, rtl.MissingTool, rtl.YosysError) as error:
        raise ValueError(error) from error


def _prove_unit(arguments: argparse.Namespace, unit: Unit) -> int:
    verilog = rtl.to_verilog(unit, "unit")
    try:
        questions = unit_questions(unit, verilog)
    except NotProvable as error:
        return _report(arguments, unit, OPEN, [], problem=str(error))
    verdicts = _ask(questions, arguments.seconds)
    refuted = list(dict.fromkeys(question.name for question, verdict in verdicts if verdict == REFUTED))
    if not refuted:
        is_open = any(verdict == OPEN for _, verdict in verdicts)
        return _report(arguments, unit, OPEN if is_open else PROVED, verdicts)
    found = next(filter(None, (vector(unit, verilog, name, arguments.seconds) for name in refuted)), None)
    if found is None:
        problem = "no operands are found that lead to what refutes these steps: perhaps there are none"
        return _report(arguments, unit, OPEN, verdicts, problem=problem)
    shown = _shown(unit, verilog, found)
    if shown is None:
        problem = "the operands that refute a step give golden's result in simulation: the step's specification is wrong"
        return _report(arguments, unit, OPEN, verdicts, problem=problem)
    return _report(arguments, unit, REFUTED, verdicts, shown=shown)


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
            _print_shown(Shown(found.inputs, found.got, found.expected, found.explanation))
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


def _ask(questions: Sequence[Question], seconds: float) -> list[tuple[Question, str]]:
    """What is known of each question, after so many seconds in all."""
    end = time.monotonic() + seconds
    return [(question, _verdict(question, end)) for question in questions]


def _verdict(question: Question, end: float) -> str:
    for name in PACKAGES:
        try:
            answer = solver(name)(question.text, max(LEAST, end - time.monotonic()))
        except MissingSolver:
            continue
        if answer.verdict != "unknown":
            return PROVED if answer.verdict == "never" else REFUTED
        if time.monotonic() > end:
            break
    return OPEN


def _report(
    arguments: argparse.Namespace,
    unit: Unit,
    verdict: str,
    verdicts: Sequence[tuple[Question, str]],
    problem: str = "",
    shown: Shown | None = None,
) -> int:
    """Say what came of it."""
    steps: dict[str, list[int]] = {}
    for question, each in verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += each == PROVED
        counts[1] += 1
    left = [f"{question.name}: {each}" for question, each in verdicts if each != PROVED]
    if arguments.json:
        print(json.dumps(_as_table(unit, verdict, steps, left, problem, shown)))
    else:
        print(f"{unit.name}, {unit.implementation.encoding}: {'not decided' if verdict == OPEN else verdict}")
        for step, (proved, count) in steps.items():
            print(f"  {step}: {proved} of {count} obligations proved")
        for line in [problem, *left]:
            if line:
                print(f"  {line}")
        if shown is not None:
            _print_shown(shown)
    return STATUS[verdict]


def _print_shown(shown: Shown) -> None:
    given = ", ".join(f"{port}={value:#x}" for port, value in shown.inputs.items())
    got = shown.got if isinstance(shown.got, str) else f"{shown.got:#x}"
    print(f"  {given}: got {got}, expected {shown.expected:#x}")
    for line in shown.explanation:
        print(f"  {line}".rstrip())


def _as_table(
    unit: Unit, verdict: str, steps: dict[str, list[int]], left: list[str], problem: str, shown: Shown | None
) -> dict[str, Any]:
    counterexample = None
    if shown is not None:
        counterexample = {"inputs": dict(shown.inputs), "got": shown.got, "expected": shown.expected}
    return {
        "unit": unit.name, "encoding": unit.implementation.encoding, "verdict": verdict, "steps": steps,
        "not_proved": left, "problem": problem, "counterexample": counterexample,
        "explanation": [] if shown is None else list(shown.explanation),
    }  # fmt: skip
