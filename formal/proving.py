"""One unit proved within so many seconds, in this process."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from formal.counterexample import Vector, vector
from formal.obligations.units import NotProvable, Question
from formal.outcome import OPEN, PROVED, REFUTED
from formal.solvers.answer import PACKAGES, MissingSolver, limited_memory, solver
from formal.subjects import KINDS, kind_of
from golden import Unit
from rtl.designs.unit_design import UnitDesign

LEAST = 1.0
"""Seconds that a question gets, however little time is left."""

Verdicts = tuple[tuple[Question, str], ...]
"""Questions, and what is known of each: `PROVED`, `REFUTED` or `OPEN`."""


@dataclass(frozen=True)
class Decision:
    """What came of a proof.

    Attributes:
        verdict: `PROVED` where every obligation is; `REFUTED` where operands are known for which the Verilog does not give
            golden's result; else `OPEN`.
        verdicts: of the obligations. problem: why it is open, where that is no matter of time alone.
        vector: the operands.
    """

    verdict: str
    verdicts: Verdicts = ()
    problem: str = ""
    vector: Vector | None = None

    @property
    def left(self) -> list[str]:
        """The obligations that are not proved."""
        return [f"{question.name}: {verdict}" for question, verdict in self.verdicts if verdict != PROVED]


def decide(unit: Unit, verilog: str, seconds: float) -> Decision:
    """Prove a unit's Verilog equal to golden's operation, step by step, and that its registers, if any, keep their rules.

    Args:
        verilog: of the unit, its top module called `unit`.
        seconds: for all questions; what is begun last may take a second longer, and the search for operands as long again.
    """
    design = UnitDesign(unit)
    try:
        questions = KINDS[kind_of(design)].questions(design, verilog)
    except NotProvable as error:
        return Decision(OPEN, problem=str(error))
    verdicts = answered(questions, seconds)
    refuted = list(dict.fromkeys(question.name for question, verdict in verdicts if verdict == REFUTED))
    if not refuted:
        known = {verdict for _, verdict in verdicts}
        return Decision(PROVED if known == {PROVED} else OPEN, verdicts, "" if known else "there are no obligations")
    if unit.implementation.stages:
        return Decision(OPEN, verdicts, f"refuted: {', '.join(refuted)}; `mmau prove` looks for a stimulus that shows it")
    found = next(filter(None, (vector(unit, verilog, name, seconds) for name in refuted)), None)
    if found is None:
        problem = "no operands are found that lead to what refutes these steps: perhaps there are none"
        return Decision(OPEN, verdicts, problem)
    if found.got == found.expected:
        return Decision(OPEN, verdicts, "the operands that refute a step give golden's result: its specification is wrong")
    return Decision(REFUTED, verdicts, vector=found)


def answered(questions: Sequence[Question], seconds: float) -> Verdicts:
    """What is known of each question, after so many seconds in all."""
    end = time.monotonic() + seconds
    return tuple((question, verdict_of(question.text, end)) for question in questions)


def verdict_of(question: str, end: float) -> str:
    """What the first solver says that knows; one that is missing or fails leaves it to the next one.

    Args:
        end: by the monotonic clock.
    """
    for name in PACKAGES:
        try:
            with limited_memory():
                answer = solver(name)(question, max(LEAST, end - time.monotonic()))
        except MissingSolver:
            continue
        except Exception:  # each library has exceptions of its own; what failed knows nothing
            continue
        if answer.verdict != "unknown":
            return PROVED if answer.verdict == "never" else REFUTED
        if time.monotonic() > end:
            break
    return OPEN
