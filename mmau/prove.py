"""`mmau prove`: the generated datapath of a unit equal to golden's operation for every input, step by step; or a design of
one's own equal to that datapath. Exit status 1 is given for operands alone that a simulation shows to be wrong."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import rtl
from cosim import load_dut
from cosim.compile.errors import SimulationError
from cosim.dut.elaborate import ElaborationError
from formal.counterexample import Vector
from formal.outcome import OPEN, PROVED, REFUTED, step_of
from formal.own_design import OwnDesign, compare_own
from formal.proving import Decision, decide
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
    found = decide(unit, verilog, arguments.seconds)
    if found.vector is None:
        return _report(arguments, unit, found)
    shown = _shown(unit, verilog, found.vector)
    if shown is None:
        problem = "the operands that refute a step give golden's result in simulation"
        return _report(arguments, unit, replace(found, verdict=OPEN, problem=problem))
    return _report(arguments, unit, found, shown)


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
        print(f"{arguments.dut}: {said} the generated datapath of {unit.name}")
        if found.decided_by:
            print(f"  by {found.decided_by}")
        for line in (*(f"where {rule}" for rule in found.assumed), found.reason):
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
        "unit": unit.name, "equal_to": "generated datapath", "verdict": verdict, "assumed": list(found.assumed),
        "decided_by": found.decided_by, "problem": found.reason, "counterexample": counterexample,
        "explanation": list(found.explanation),
    }  # fmt: skip


def _report(arguments: argparse.Namespace, unit: Unit, found: Decision, shown: Shown | None = None) -> int:
    """Say what came of it."""
    steps: dict[str, list[int]] = {}
    for question, each in found.verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += each == PROVED
        counts[1] += 1
    if arguments.json:
        print(json.dumps(_as_table(unit, found, steps, shown)))
    else:
        print(f"{unit.name}, {unit.implementation.encoding}: {'not decided' if found.verdict == OPEN else found.verdict}")
        for step, (proved, count) in steps.items():
            print(f"  {step}: {proved} of {count} obligations proved")
        for line in [found.problem, *found.left]:
            if line:
                print(f"  {line}")
        if shown is not None:
            _print_shown(shown)
    return STATUS[found.verdict]


def _print_shown(shown: Shown) -> None:
    given = ", ".join(f"{port}={value:#x}" for port, value in shown.inputs.items())
    got = shown.got if isinstance(shown.got, str) else f"{shown.got:#x}"
    print(f"  {given}: got {got}, expected {shown.expected:#x}")
    for line in shown.explanation:
        print(f"  {line}".rstrip())


def _as_table(unit: Unit, found: Decision, steps: dict[str, list[int]], shown: Shown | None) -> dict[str, Any]:
    counterexample = None
    if shown is not None:
        counterexample = {"inputs": dict(shown.inputs), "got": shown.got, "expected": shown.expected}
    return {
        "unit": unit.name, "encoding": unit.implementation.encoding, "verdict": found.verdict, "steps": steps,
        "not_proved": found.left, "problem": found.problem, "counterexample": counterexample,
        "explanation": [] if shown is None else list(shown.explanation),
    }  # fmt: skip
