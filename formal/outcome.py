"""What came of proofs: what is proved of each datapath, by which solver, in how long."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from formal.obligations.units import Question
from formal.tasks import question_key
from golden import Unit

PROVED, REFUTED, OPEN = "proved", "refuted", "open"

Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""What each solver said, by the key of the question."""


@dataclass(frozen=True)
class Settled:
    """A datapath with the answers to its questions.

    Attributes:
        questions: its obligations. answers: of all datapaths.
        problem: why there are no questions, where the obligations could not be put together.
    """

    unit: Unit
    questions: tuple[Question, ...]
    answers: Answers
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


def step_of(name: str) -> str:
    """The step of golden to which an obligation belongs, from its name."""
    part = name.split()[0]
    part = re.sub(r"_\d+$", "", part)
    for step in ("max_exp", "align", "accumulate", "decode", "multiply", "specials", "addend", "scale"):
        if step in part:
            return step
    return "normalise, round, encode" if part == "d" or part.endswith("encode") else part


def table(settled: Sequence[Settled]) -> dict[str, Any]:
    """The outcome as JSON: every datapath, and every step's questions with the solvers' times."""
    units = []
    for each in settled:
        verdicts = [(question, each.verdict_of(question)) for question in each.questions]
        steps: dict[str, list[int]] = {}
        for question, verdict in verdicts:
            counts = steps.setdefault(step_of(question.name), [0, 0])
            counts[0] += verdict == PROVED
            counts[1] += 1
        units.append({
            "name": each.unit.name, "operation": each.unit.operation.name, "encoding": each.unit.implementation.encoding,
            "verdict": each.verdict, "obligations": len(verdicts), "steps": steps,
            "not_proved": [f"{question.name}: {verdict}" for question, verdict in verdicts if verdict != PROVED],
            "problem": each.problem,
        })  # fmt: skip
    return {"units": units, "questions": _by_step(settled)}


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
    """How many datapaths are proved, and a line for each that is not."""
    left = [each for each in settled if each.verdict != PROVED]
    lines = [f"{len(settled) - len(left)} of {len(settled)} datapaths proved"]
    for each in left:
        named = [question.name for question in each.questions if each.verdict_of(question) != PROVED]
        why = each.problem or ", ".join(named) or "no obligations"
        lines.append(f"{each.unit.name}, {each.unit.implementation.encoding}: {each.verdict}: {why}")
    return lines


def document(outcome: Mapping[str, Any]) -> str:
    """The page that is committed."""
    units, questions = outcome["units"], outcome["questions"]
    versions = ", ".join(f"{name} {number}" for name, number in outcome["versions"].items())
    lines = [
        "# What is proved",
        "",
        "Written by `make formal`; what is claimed and what is trusted stands in [formal.md](formal.md).",
        "",
        f"{outcome['date']}; {versions}; at most {outcome['seconds']:g} s for a question and solver.",
        "",
        *_totals(units),
        "",
        "## Datapaths",
        "",
        "Obligations that are proved, of all; one that several datapaths share is counted in each of them.",
        "",
        "| datapath | operation | encoding | verdict | obligations | not proved |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(_row, units),
        "",
        "## Questions",
        "",
        "Distinct ones; seconds of the solver's process.",
        "",
        "| step | solver | asked | proved | refuted | seconds | longest |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in questions:
        lines.append(
            f"| {row['step']} | {row['solver']} | {row['asked']:,} | {row['proved']:,} | {row['refuted']:,} "
            f"| {row['seconds']:.1f} | {row['longest']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _totals(units: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| operation | datapaths and encodings | proved | refuted | open |", "| --- | --- | --- | --- | --- |"]
    for operation in dict.fromkeys(unit["operation"] for unit in units):
        mine = [unit["verdict"] for unit in units if unit["operation"] == operation]
        counts = [mine.count(verdict) for verdict in (PROVED, REFUTED, OPEN)]
        lines.append(f"| {operation} | {len(mine)} | {' | '.join(map(str, counts))} |")
    return lines


def _row(unit: Mapping[str, Any]) -> str:
    proved = sum(counts[0] for counts in unit["steps"].values())
    missing = unit["problem"] or "; ".join(unit["not_proved"][:4]) + (" …" if len(unit["not_proved"]) > 4 else "")
    return (
        f"| {unit['name']} | {unit['operation']} | {unit['encoding']} | {unit['verdict']} "
        f"| {proved} of {unit['obligations']} | {missing} |"
    )
