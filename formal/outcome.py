"""What came of proofs: what is proved of each design, by which solver, in how long."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from formal.obligations.units import Question
from formal.subjects import KINDS, Subject, built
from formal.tasks import question_key
from jobs.contents import design_key, operation_key

PROVED, REFUTED, OPEN = "proved", "refuted", "open"

Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""What each solver said, by the key of the question."""


@dataclass(frozen=True)
class Settled:
    """A subject with the answers to its questions.

    Attributes:
        questions: its obligations. answers: of all subjects.
        verilog: digest of the Verilog that the questions are of (`jobs.contents.verilog_digest`).
        problem: why there are no questions, where the obligations could not be put together.
    """

    subject: Subject
    questions: tuple[Question, ...]
    answers: Answers
    verilog: str = ""
    problem: str = ""

    def verdict_of(self, question: Question) -> str:
        """What is known of an obligation."""
        verdicts = {answer["verdict"] for answer in self.answers.get(question_key(question), ())}
        if "sometimes" in verdicts:
            return REFUTED
        return PROVED if "never" in verdicts else OPEN

    @property
    def verdict(self) -> str:
        """`PROVED` where every obligation is, and there are obligations; `REFUTED` where one is."""
        verdicts = {self.verdict_of(question) for question in self.questions}
        if REFUTED in verdicts:
            return REFUTED
        return PROVED if verdicts == {PROVED} and not self.problem else OPEN

    @property
    def solvers(self) -> list[str]:
        """Those that proved an obligation."""
        given = [answer for question in self.questions for answer in self.answers.get(question_key(question), ())]
        return sorted({answer["solver"] for answer in given if answer["verdict"] == "never"})

    @property
    def named(self) -> str:
        """The design and how it is built."""
        design = self.subject.design
        kind = "" if self.subject.kind == "datapath" else f"{self.subject.kind}, "
        return f"{design.name}, {kind}{built(design.implementation)}"


def step_of(name: str) -> str:
    """The step of golden to which an obligation belongs, from its name."""
    part = name.split()[0]
    part = re.sub(r"_\d+$", "", part)
    for step in ("max_exp", "align", "accumulate", "decode", "multiply", "specials", "addend", "scale"):
        if step in part:
            return step
    if part.endswith(("_term_x", "_term_y", "_term_z")):  # a code that an adder takes
        return "addend"
    return "normalise, round, encode" if part == "d" or part.endswith("encode") else part


def table(settled: Sequence[Settled]) -> dict[str, Any]:
    """The outcome as JSON: every subject, and every step's questions with the solvers' times."""
    return {"subjects": [_subject(each) for each in settled], "questions": _by_step(settled)}


def _subject(each: Settled) -> dict[str, Any]:
    """A subject's row. `design`, `arithmetic` and `verilog` are digests, by which it is found (`formal.evidence`)."""
    verdicts = [(question, each.verdict_of(question)) for question in each.questions]
    steps: dict[str, list[int]] = {}
    for question, verdict in verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += verdict == PROVED
        counts[1] += 1
    design = each.subject.design
    return {
        "name": design.name, "operation": design.operation.name, "kind": each.subject.kind,
        "built": built(design.implementation), "verdict": each.verdict, "obligations": len(verdicts), "steps": steps,
        "solvers": each.solvers, "assumed": list(KINDS[each.subject.kind].assumed(design)),
        "not_proved": [f"{question.name}: {verdict}" for question, verdict in verdicts if verdict != PROVED],
        "problem": each.problem, "design": design_key(design.as_table()), "arithmetic": operation_key(design.operation),
        "verilog": each.verilog,
    }  # fmt: skip


def _by_step(settled: Iterable[Settled]) -> list[dict[str, Any]]:
    """For each step and solver how many distinct questions it answered, and its seconds."""
    seen: set[str] = set()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in settled:
        for question in each.questions:
            key = question_key(question)
            if key in seen:
                continue
            seen.add(key)
            for answer in each.answers.get(key, ()):
                row = found.setdefault(
                    (step_of(question.name), answer["solver"]),
                    {"step": step_of(question.name), "solver": answer["solver"], "asked": 0, "proved": 0, "refuted": 0,
                     "seconds": 0.0, "longest": 0.0},
                )  # fmt: skip
                seconds = answer.get("seconds", 0.0)
                row["asked"] += 1
                row["proved"] += answer["verdict"] == "never"
                row["refuted"] += answer["verdict"] == "sometimes"
                row["seconds"] = round(row["seconds"] + seconds, 3)
                row["longest"] = max(row["longest"], seconds)
    return [found[key] for key in sorted(found)]


def exit_status(settled: Sequence[Settled]) -> int:
    """0 all proved, 1 one refuted, 3 one open."""
    verdicts = {each.verdict for each in settled}
    return 1 if REFUTED in verdicts else 0 if verdicts == {PROVED} else 3


def summary(settled: Sequence[Settled]) -> list[str]:
    """How many designs are proved, and a line for each that is not."""
    left = [each for each in settled if each.verdict != PROVED]
    lines = [f"{len(settled) - len(left)} of {len(settled)} designs proved"]
    for each in left:
        named = [question.name for question in each.questions if each.verdict_of(question) != PROVED]
        lines.append(f"{each.named}: {each.verdict}: {each.problem or ', '.join(named) or 'no obligations'}")
    return lines
