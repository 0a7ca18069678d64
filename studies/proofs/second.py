"""`make formal-second`: a second, unrelated solver for every question of a proof: `python -m studies.proofs.second
PROOFS.json PAGE.md [--main-job] [--unit TEXT] [--seconds N]`.

A question goes to another solver than the one that decided it, Z3 before cvc5. The row of a design in PROOFS.json counts
under `second` how many of its questions are confirmed; a design all of whose questions are is not asked again. The page of
proofs is written with it. A contradiction is printed, and the question is kept as a script in build/formal/contradictions.
Exit status: 0 if no answers contradict each other, else 1.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from mmau import DIFFERED, OK
from mmau.jobs import program
from mmau.jobs.provenance import sealed, unsealed
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.solvers.installed import PACKAGES, solver_version
from rtl.tools import MissingTool
from studies.proofs.__main__ import STORE, ask_all, obligations
from studies.proofs.outcome import key_of
from studies.proofs.proofs_page import document
from studies.proofs.proved_designs import add_limits, add_options, chosen_targets
from studies.proofs.tasks import distinct, questions_of

SECONDS = 60.0
"""Time limit of a solver for one question."""

SECOND = [name for name in ("z3", "cvc5", "bitwuzla") if name in PACKAGES]
"""Solvers in the order in which they are asked for a second opinion."""

KEPT = STORE / "contradictions"
"""Folder of the questions on which solvers contradict each other."""


@dataclass(frozen=True)
class Opinion:
    """The answers of two solvers to one question.

    Attributes:
        first: the solver that decided it. verdict: its answer.
        second: another solver that decided it; empty if none did. other: its answer, `unknown` if none did.
    """

    first: str
    verdict: str
    second: str
    other: str

    @property
    def is_confirmed(self) -> bool:
        """Whether both answers are the same."""
        return bool(self.second) and self.verdict == self.other

    @property
    def is_contradicted(self) -> bool:
        """Whether one answer says the opposite of the other."""
        return bool(self.second) and self.verdict != self.other


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask for the opinions that are missing, and write all opinions."""
    parser = argparse.ArgumentParser(prog="formal-second", description="Ask a second solver every question of the proofs.")
    parser.add_argument("proofs", type=Path, help="outcome of `make formal` (JSON), to which the opinions are added")
    parser.add_argument("page", type=Path, help="file for the page of proofs (Markdown)")
    add_options(parser)
    add_limits(parser, SECONDS, "for each question")
    options = parser.parse_args(arguments)
    for output in (options.proofs, options.page):
        check_output(output)
    outcome = unsealed(options.proofs.read_bytes())
    rows = {(row["kind"], row["design"]): row for row in outcome["subjects"]}
    chosen = [each for each in chosen_targets(options) if not is_confirmed(rows.get(key_of(each), {}))]
    made: list[tuple[dict[str, Any], dict[str, Question]]] = []
    for target, record in zip(chosen, obligations(chosen, STORE, options.jobs), strict=True):
        row = rows.get(key_of(target))
        if row is not None and record is not None and record.done and row["questions"] == record.result["questions"]:
            made.append((row, distinct(questions_of(record))))
    questions = {key: question for _, of_row in made for key, question in of_row.items()}
    known = opinions(questions, STORE, options.seconds, options.jobs)
    for row, of_row in made:
        row["second"] = counted([known.get(key) for key in of_row], options.seconds)
    write_atomically(options.proofs, sealed(outcome).encode())
    write_atomically(options.page, document(outcome).encode())
    print(f"{sum(each.is_confirmed for each in known.values())} of {len(questions)} questions confirmed by a second solver")
    lines = [contradiction(each, questions[key], key, KEPT) for key, each in known.items() if each.is_contradicted]
    print("\n".join(lines), end="\n" if lines else "")
    return DIFFERED if lines else OK


def is_confirmed(row: Mapping[str, Any]) -> bool:
    """Whether a design need not be asked again: another limit or another version may decide what is open."""
    second = row.get("second", {})
    return bool(second) and second["confirmed"] == second["asked"]


def counted(found: Sequence[Opinion | None], seconds: float) -> dict[str, Any]:
    """The second opinions on the questions of a row, counted. None is a question that no solver decided."""
    confirmed = [each for each in found if each is not None and each.is_confirmed]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "seconds": seconds, "asked": len(found), "confirmed": len(confirmed),
        "contradicted": sum(each is not None and each.is_contradicted for each in found),
        "solvers": sorted({each.second for each in confirmed}),
    }  # fmt: skip


def opinions(questions: Mapping[str, Question], folder: Path, seconds: float, jobs: int | None = None) -> dict[str, Opinion]:
    """The opinions on questions, by key; a question that no solver decides has none."""
    first = {key: decided(given) for key, given in ask_all(questions, folder, seconds, jobs).items()}
    found: dict[str, Opinion] = {}
    for name in PACKAGES:
        mine = {key: questions[key] for key, (solver, _) in first.items() if solver == name}
        others = ask_all(mine, folder, seconds, jobs, [each for each in SECOND if each != name])
        found |= {key: Opinion(*_dated(first[key]), *_dated(decided(given))) for key, given in others.items()}
    return found


def decided(given: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """The solver that decided a question, and its answer; empty and `unknown` if none did.

    Args:
        given: the answers of solvers, in the order in which they were asked.
    """
    for answer in given:
        if answer["verdict"] != "unknown":
            return str(answer["solver"]), str(answer["verdict"])
    return "", "unknown"


def _dated(answer: tuple[str, str]) -> tuple[str, str]:
    """An answer by a solver with its version."""
    name, verdict = answer
    return (f"{name} {solver_version(name)}" if name else ""), verdict


def contradiction(opinion: Opinion, question: Question, key: str, folder: Path) -> str:
    """Keep a question on which solvers contradict each other; the line that says so."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key}.smt2"
    says = f"{opinion.first} says {opinion.verdict}, {opinion.second} says {opinion.other}"
    path.write_text(f"; {question.name}: {says}\n{question.text}", encoding="utf-8")
    return f"CONTRADICTION: {question.name}: {says}: {path}"


if __name__ == "__main__":
    sys.exit(program("formal-second", main, (MissingTool,)))
