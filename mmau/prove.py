"""`mmau prove`: the generated datapath of a unit equal to golden's operation for every input, step by step."""

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import rtl
from formal.counterexample import Vector, vector
from formal.obligations.units import NotProvable, Question, unit_questions
from formal.outcome import OPEN, PROVED, REFUTED, step_of
from formal.solvers.answer import PACKAGES, MissingSolver, solver
from golden import Unit
from mmau import DIFFERED, OK
from mmau.designs import chosen_design

UNDECIDED = 3
"""Exit status: some obligation is open."""

LEAST = 1.0
"""Seconds that a question gets, however little time is left."""


def run_prove(arguments: argparse.Namespace) -> int:
    """`mmau prove`: exit 0 proved, 1 a counter-example, 3 not decided."""
    design = chosen_design(arguments)
    if not isinstance(design, rtl.UnitDesign) or design.implementation.stages:
        raise ValueError("name one combinational unit: --unit UNIT.toml with stages = 0, or --arch and --instr")
    if not arguments.seconds > 0:
        raise ValueError(f"--seconds must be above 0, got {arguments.seconds:g}")
    unit = design.unit
    try:
        questions = unit_questions(unit)
    except NotProvable as error:
        return _report(arguments, unit, OPEN, [], problem=str(error))
    verdicts = _ask(questions, arguments.seconds)
    refuted = next((question for question, verdict in verdicts if verdict == REFUTED), None)
    if refuted is not None:
        found = vector(unit, rtl.to_verilog(unit, "unit"), refuted.name, arguments.seconds)
        return _report(arguments, unit, REFUTED, verdicts, found=found)
    is_open = any(verdict == OPEN for _, verdict in verdicts)
    return _report(arguments, unit, OPEN if is_open else PROVED, verdicts)


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
    found: Vector | None = None,
) -> int:
    """Say what came of it."""
    steps: dict[str, list[int]] = {}
    for question, each in verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += each == PROVED
        counts[1] += 1
    left = [f"{question.name}: {each}" for question, each in verdicts if each != PROVED]
    if arguments.json:
        print(json.dumps(_as_table(unit, verdict, steps, left, problem, found)))
    else:
        print(f"{unit.name}, {unit.implementation.encoding}: {'not decided' if verdict == OPEN else verdict}")
        for step, (proved, count) in steps.items():
            print(f"  {step}: {proved} of {count} obligations proved")
        for line in [problem, *left]:
            if line:
                print(f"  {line}")
        if found is not None:
            given = ", ".join(f"{port}={value:#x}" for port, value in found.inputs.items())
            print(f"  {given}: got {found.got:#x}, expected {found.expected:#x}")
    return {PROVED: OK, REFUTED: DIFFERED, OPEN: UNDECIDED}[verdict]


def _as_table(
    unit: Unit, verdict: str, steps: dict[str, list[int]], left: list[str], problem: str, found: Vector | None
) -> dict[str, Any]:
    counterexample = None
    if found is not None:
        counterexample = {"inputs": dict(found.inputs), "got": found.got, "expected": found.expected}
    return {
        "unit": unit.name, "encoding": unit.implementation.encoding, "verdict": verdict, "steps": steps,
        "not_proved": left, "problem": problem, "counterexample": counterexample,
    }  # fmt: skip
