"""Proves one design in this process, within a time limit; a simulation confirms a refutation.

Nothing here can interrupt the construction of terms or a solver that takes longer than it was given;
`mmau.prove.deadline` calls this in a process that it can kill.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from mmau.prove.counterexample import replayed, vector
from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question
from mmau.prove.deadline import Report, ignored
from mmau.prove.decision import OPEN, PROVED, REFUTED, Counterexample, DesignDecision, Obligations, WrongCycles, WrongResult
from mmau.prove.pipeline.carried_values import VALUES
from mmau.prove.pipeline.pipeline import HANDSHAKE
from mmau.prove.pipeline.pipeline_replay import broken
from mmau.prove.pipeline.pipeline_targets import combinational
from mmau.prove.pipeline.questions import CUT, assumed, handshake_trace, pipeline_questions
from mmau.prove.solvers.installed import PACKAGES, MissingSolver, limited_memory, solver
from rtl.designs.design import Design
from rtl.designs.identity import verilog_digest
from rtl.designs.product_design import SumsDesign
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog

LEAST = 0.5
"""Least time for a solver (seconds): in less, starting it would be most of its work."""


class NotShown(Exception):
    """An obligation is refuted, but no counter-example of the whole design was found."""


def prove(design: Design, seconds: float, report: Report = ignored) -> DesignDecision:
    """Prove that the generated Verilog of a design computes golden's operation for every input, step by step, and that its
    registers, if it has any, keep the rules of their handshake.

    Args:
        design: a unit, a tile or a datapath of several formats.
        seconds: for everything. After the first refuted step half of what is left is for the search for a counter-example.
        report: takes what is known of the decision, as the keys of a `DesignDecision`, as soon as it is known; of `decided`,
            the number of a question and its verdict.

    Raises:
        MissingTool: a program is not installed. YosysError: no Verilog came of the design.
        ElaborationError, SimulationError: a counter-example cannot be replayed.
    """
    end = time.monotonic() + seconds
    verilog = to_verilog(design, TOP)
    found = DesignDecision(verdict=OPEN, assumed=assumed(design), verilog=verilog_digest(verilog))
    report({"assumed": list(found.assumed), "verilog": found.verilog})
    try:
        questions = pipeline_questions(design, verilog)
    except NotProvable as error:
        return replace(found, reason=str(error))
    report({"obligations": [(question.name, OPEN) for question in questions]})
    found = replace(found, obligations=answered(questions, end, report))
    verdicts = [verdict for _, verdict in found.obligations]
    if REFUTED in verdicts:
        try:
            shown = _shown(design, verilog, found.obligations, end)
            return replace(found, verdict=REFUTED, counterexample=shown)
        except (NotProvable, NotShown) as error:
            return replace(found, reason=str(error))
    if not verdicts:
        return replace(found, reason="there are no obligations")
    if OPEN not in verdicts:
        return replace(found, verdict=PROVED)
    remaining = f"{verdicts.count(OPEN)} of {len(verdicts)} obligations remain undecided"
    return replace(found, reason=f"no counter-example was found in {seconds:g} s (--seconds), and {remaining}")


def answered(questions: Sequence[Question], end: float, report: Report = ignored) -> Obligations:
    """The verdict on each question, by the deadline.

    The questions that are left share the time that is left, so that a hard one does not keep an easy one from being asked.
    What is then open is asked again while there is more time for each than before.

    Args:
        end: by the monotonic clock. report: as of `prove`.
    """
    verdicts = dict.fromkeys(range(len(questions)), OPEN)
    waiting, before = list(verdicts), 0.0
    while waiting and (share := (end - time.monotonic()) / len(waiting)) > before:
        before = share
        for place, number in enumerate(waiting):
            now = time.monotonic()
            if now >= end:
                break
            verdict = verdict_of(questions[number].text, now + (end - now) / (len(waiting) - place))
            if verdict == OPEN:
                continue
            if verdict == REFUTED and REFUTED not in verdicts.values():  # the other half is for its counter-example
                end -= max(0.0, end - time.monotonic()) / 2
            verdicts[number] = verdict
            report({"decided": (number, verdict)})
        waiting = [number for number, verdict in verdicts.items() if verdict == OPEN]
    return tuple((question.name, verdicts[number]) for number, question in enumerate(questions))


def verdict_of(question: str, end: float) -> str:
    """The answer of the first solver that has one. Each gets half of the time that is left, the last one all of it; a solver
    that is missing or fails leaves its time to the next.

    Args:
        end: by the monotonic clock; the first solver gets `LEAST` seconds though it may be nearer.
    """
    is_first = True
    for place, name in enumerate(PACKAGES, 1):
        remaining = end - time.monotonic()
        if remaining < LEAST and not is_first:
            break
        try:
            solve = solver(name)
            is_first = False
            with limited_memory():
                answer = solve(question, max(LEAST, remaining / 2 if place < len(PACKAGES) else remaining))
        except MissingSolver:
            continue
        except Exception:  # each library has its own exceptions; a solver that fails has decided nothing
            continue
        if answer.verdict != "unknown":
            return PROVED if answer.verdict == "never" else REFUTED
    return OPEN


def _shown(design: Design, verilog: str, obligations: Obligations, end: float) -> Counterexample:
    """A counter-example of the whole design.

    Args:
        end: by the monotonic clock.

    Raises:
        NotShown: none was found, or the design is right for what was found.
    """
    refuted = list(dict.fromkeys(name for name, verdict in obligations if verdict == REFUTED))
    if any(name.startswith((HANDSHAKE, VALUES, CUT)) for name in refuted):
        return _wrong_cycles(design, verilog, end)
    return _wrong_result(combinational(design), refuted, end)


def _share(end: float, parts: int = 1) -> float:
    """A part of the seconds that are left, `LEAST` at least."""
    return max(LEAST, (end - time.monotonic()) / parts)


def _wrong_cycles(design: Design, verilog: str, end: float) -> WrongCycles:
    """A stimulus that breaks a rule of the handshake, or mixes values of different transfers."""
    trace = handshake_trace(design, verilog, _share(end))
    found = broken(design, verilog, trace)
    if found is None:
        rule = "" if trace is None else f"; with operand values ignored, a sequence of cycles breaks this rule: {trace.rule}"
        raise NotShown(f"a rule of the registers is refuted, but no stimulus was found that fails in a simulation{rule}")
    return WrongCycles(found.lines())


def _wrong_result(datapath: Design, refuted: Sequence[str], end: float) -> WrongResult:
    """Operands for which the combinational datapath gives a wrong d."""
    if not isinstance(datapath, UnitDesign | SumsDesign):
        raise NotShown(
            "a step is refuted, but the search for operands that show it covers datapaths of one format only; "
            "try co-simulation: `mmau cosim`"
        )
    verilog = to_verilog(datapath, TOP)
    searches = (
        vector(datapath.unit, verilog, name, _share(end, len(refuted) - place)) for place, name in enumerate(refuted)
    )
    found = next(filter(None, searches), None)
    if found is None:
        raise NotShown(
            "a step is refuted on its own, but no operands of the unit that make d wrong were found in time; there may be "
            "none"
        )
    report = replayed(datapath.unit, found.inputs, verilog)
    if not report.differing:
        raise NotShown(
            "the operands that refute a step give golden's result in simulation, so the specification of that step is wrong"
        )
    row = report.differing[0]
    explanation = () if report.explanation is None else report.explanation.lines()
    return WrongResult(found.inputs, row.got, row.expected, explanation)
