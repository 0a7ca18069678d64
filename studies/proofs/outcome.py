"""The outcome of the proof campaign: the verdict on each design, the solvers and their times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mmau import DIFFERED, OK, UNDECIDED
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.decision import OPEN, PROVED, REFUTED, step_of
from mmau.prove.proof_identity import Identity
from mmau.prove.targets import KINDS
from rtl.designs.identity import design_key, operation_key
from studies.proofs.proved_designs import Target, built
from studies.proofs.tasks import question_key

Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""The answers of the solvers, by the key of the question."""

NOT_BEGUN = "not begun"
"""The problem of a target for which there was no time."""


@dataclass(frozen=True)
class Settled:
    """A target with the answers to its questions.

    Attributes:
        questions: its obligations. answers: the answers of all targets.
        identity: the identity of the proof; None if the obligations could not be built.
        problem: why there are no questions, if the obligations could not be built.
    """

    target: Target
    questions: tuple[Question, ...]
    answers: Answers
    identity: Identity | None = None
    problem: str = ""

    def verdict_of(self, question: Question) -> str:
        """The verdict on an obligation."""
        verdicts = {answer["verdict"] for answer in self.answers.get(question_key(question), ())}
        if "sometimes" in verdicts:
            return REFUTED
        return PROVED if "never" in verdicts else OPEN

    @property
    def verdict(self) -> str:
        """`PROVED` if there are obligations and all are proved; `REFUTED` if one is refuted; else `OPEN`."""
        verdicts = {self.verdict_of(question) for question in self.questions}
        if REFUTED in verdicts:
            return REFUTED
        return PROVED if verdicts == {PROVED} and not self.problem else OPEN

    @property
    def solvers(self) -> list[str]:
        """The solvers that proved an obligation."""
        given = [answer for question in self.questions for answer in self.answers.get(question_key(question), ())]
        return sorted({answer["solver"] for answer in given if answer["verdict"] == "never"})

    @property
    def named(self) -> str:
        """The name of the design and its implementation."""
        design = self.target.design
        kind = "" if self.target.kind == "datapath" else f"{self.target.kind}, "
        return f"{design.name}, {kind}{built(design.implementation)}"


def table(settled: Sequence[Settled]) -> dict[str, Any]:
    """The outcome as JSON: every target, and every step's questions with the solvers' times."""
    return {"subjects": [_row(each) for each in settled], "questions": _by_step(settled)}


def _row(each: Settled) -> dict[str, Any]:
    """A target's row. From `design` on, all values are digests: those of the design and of its operation find the row, and
    the row is valid while the others are unchanged (`mmau.prove.records`)."""
    verdicts = [(question, each.verdict_of(question)) for question in each.questions]
    steps: dict[str, list[int]] = {}
    for question, verdict in verdicts:
        counts = steps.setdefault(step_of(question.name), [0, 0])
        counts[0] += verdict == PROVED
        counts[1] += 1
    design = each.target.design
    return {
        "name": design.name, "operation": design.operation.name, "kind": each.target.kind,
        "built": built(design.implementation), "verdict": each.verdict, "obligations": len(verdicts), "steps": steps,
        "solvers": each.solvers, "assumed": list(KINDS[each.target.kind].assumed(design)),
        "not_proved": [f"{question.name}: {verdict}" for question, verdict in verdicts if verdict != PROVED],
        "problem": each.problem, "design": design_key(design.as_table()), "arithmetic": operation_key(design.operation),
        **asdict(each.identity or Identity("", "", "")),
    }  # fmt: skip


def _by_step(settled: Iterable[Settled]) -> list[dict[str, Any]]:
    """For each step and solver the number of distinct questions that it answered, and its seconds."""
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


def keep_opinions(rows: Sequence[dict[str, Any]], before: Sequence[Mapping[str, Any]]) -> None:
    """Copy the second opinions of an earlier row into the row with the same questions that replaces it."""
    known = {(row["kind"], row["design"], row["questions"]): row["second"] for row in before if "second" in row}
    for row in rows:
        if (second := known.get((row["kind"], row["design"], row["questions"]))) is not None:
            row["second"] = second


def missing(listed: Sequence[Target], rows: Sequence[Mapping[str, Any]]) -> list[Target]:
    """The targets of which there is no row."""
    known = {(row["kind"], row["design"]) for row in rows}
    return [target for target in listed if key_of(target) not in known]


def with_added(before: Mapping[str, Any], added: Mapping[str, Any], listed: Sequence[Target]) -> dict[str, Any]:
    """An outcome with the rows of a later one, each with its date, in the order of the targets.

    What made the texts of `before` stays: where it is not what made those of `added`, every text is compared again. A
    question of the later run counts beside those of the earlier one, which may have asked it too. A design for which the
    later run had no time gets no row: it is still missing.
    """
    begun = [row for row in added["subjects"] if row["problem"] != NOT_BEGUN]
    rows = {(row["kind"], row["design"]): row for row in before["subjects"]}
    rows |= {(row["kind"], row["design"]): row | {"date": added["date"]} for row in begun}
    order = {key_of(target): place for place, target in enumerate(listed)}
    counts: dict[tuple[str, str], dict[str, Any]] = {}
    for each in (*before["questions"], *added["questions"]):
        row = counts.setdefault((each["step"], each["solver"]), dict.fromkeys(each, 0) | {"longest": 0.0, "seconds": 0.0})
        row |= {"step": each["step"], "solver": each["solver"], "longest": max(row["longest"], each["longest"])}
        row |= {key: row[key] + each[key] for key in ("asked", "proved", "refuted")}
        row["seconds"] = round(row["seconds"] + each["seconds"], 3)
    run = {key: added[key] for key in ("date", "made_with", "versions")} | {"designs": len(begun)}
    return {
        **before, "added": [*before.get("added", ()), run],
        "subjects": sorted(rows.values(), key=lambda row: order.get((row["kind"], row["design"]), len(order))),
        "questions": [counts[key] for key in sorted(counts)],
    }  # fmt: skip


def key_of(target: Target) -> tuple[str, str]:
    """The key by which the row of a target is found."""
    return target.kind, design_key(target.design.as_table())


def exit_status(settled: Sequence[Settled]) -> int:
    """The exit status of the command: all proved, one refuted, or one open."""
    verdicts = {each.verdict for each in settled}
    return DIFFERED if REFUTED in verdicts else OK if verdicts == {PROVED} else UNDECIDED


def summary(settled: Sequence[Settled]) -> list[str]:
    """The number of proved designs, and a line for each that is not proved."""
    open_targets = [each for each in settled if each.verdict != PROVED]
    lines = [f"{len(settled) - len(open_targets)} of {len(settled)} designs proved"]
    for each in open_targets:
        named = [question.name for question in each.questions if each.verdict_of(question) != PROVED]
        lines.append(f"{each.named}: {each.verdict}: {each.problem or ', '.join(named) or 'no obligations'}")
    return lines
