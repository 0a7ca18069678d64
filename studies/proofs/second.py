"""`make formal-second`: a second, unrelated solver for every question of a proof: `python -m studies.proofs.second
PROOFS.json SECOND.json PAGE.md [--main-job] [--unit TEXT] [--seconds N]`.

A question goes to another solver than the one that decided it, Z3 before cvc5. The outcome holds for each question, by the
digest of its text, who decided it and who confirmed it; what it holds is not asked again. The page of proofs is written with
it. A contradiction is printed, and the question is kept as a script in build/formal/contradictions.
Exit status: 0 if no answers contradict each other, else 1.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from mmau import DIFFERED, OK
from mmau.formal.obligations.unit_questions import Question
from mmau.formal.solvers.installed import PACKAGES, solver_version
from mmau.jobs import Record, program
from mmau.jobs.sealed import sealed, unsealed
from rtl.designs.identity import design_key
from rtl.tools import MissingTool
from studies.proofs.__main__ import STORE, ask_all, kept, obligations
from studies.proofs.opinions import Opinion, decided, opinions_of, row_of
from studies.proofs.proofs_page import document
from studies.proofs.proved_designs import Target, add_limits, add_options, built, chosen_targets
from studies.proofs.tasks import distinct, questions_of

SECONDS = 60.0
"""Time limit of a solver for one question."""

SECOND = [name for name in ("z3", "cvc5", "bitwuzla") if name in PACKAGES]
"""Solvers in the order in which they are asked for a second opinion."""

KEPT = STORE / "contradictions"
"""Folder of the questions on which solvers contradict each other."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask for the opinions that are missing, and write all of them."""
    parser = argparse.ArgumentParser(prog="formal-second", description="Ask a second solver every question of the proofs.")
    parser.add_argument("proofs", type=Path, help="outcome of `make formal` (JSON)")
    parser.add_argument("second", type=Path, help="file for the opinions (JSON); what it holds is not asked again")
    parser.add_argument("page", type=Path, help="file for the page of proofs (Markdown)")
    add_options(parser)
    add_limits(parser, SECONDS, "for each question")
    options = parser.parse_args(arguments)
    for output in (options.second, options.page):
        check_output(output)
    proofs = unsealed(options.proofs.read_bytes())
    before = kept(options.second) or {"opinions": [], "subjects": []}
    chosen = chosen_targets(options)
    records = obligations(chosen, STORE, options.jobs)
    made = [record for record in records if record is not None and record.done]
    questions = distinct([question for record in made for question in questions_of(record)])
    known = opinions_of(before)
    missing = {key: question for key, question in questions.items() if not is_known(known.get(key))}
    known |= opinions(missing, STORE, options.seconds, options.jobs)
    found = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "seconds": options.seconds,
        "subjects": _rows(before["subjects"], chosen, records, known),
        "opinions": [known[key].as_list() for key in sorted(known)],
    }  # fmt: skip
    write_atomically(options.second, sealed(found).encode())
    write_atomically(options.page, document(proofs, found).encode())
    mine = [known[key] for key in questions if key in known]
    print(f"{sum(each.is_confirmed for each in mine)} of {len(questions)} questions confirmed by a second solver")
    lines = [contradiction(each, questions[each.question], KEPT) for each in mine if each.is_contradicted]
    print("\n".join(lines), end="\n" if lines else "")
    return DIFFERED if lines else OK


def is_known(opinion: Opinion | None) -> bool:
    """Whether a question need not be asked again: another limit or another version may settle what is open."""
    return opinion is not None and opinion.is_confirmed


def opinions(questions: Mapping[str, Question], folder: Path, seconds: float, jobs: int | None = None) -> dict[str, Opinion]:
    """The opinions on questions, by key; none on a question that no solver decides."""
    first = {key: decided(given) for key, given in ask_all(questions, folder, seconds, jobs).items()}
    found: dict[str, Opinion] = {}
    for name in PACKAGES:
        mine = {key: questions[key] for key, (solver, _) in first.items() if solver == name}
        others = ask_all(mine, folder, seconds, jobs, [each for each in SECOND if each != name])
        found |= {key: Opinion(key, *_dated(first[key]), *_dated(decided(given))) for key, given in others.items()}
    return found


def _dated(answer: tuple[str, str]) -> tuple[str, str]:
    """An answer by a solver with its version."""
    name, verdict = answer
    return (f"{name} {solver_version(name)}" if name else ""), verdict


def contradiction(opinion: Opinion, question: Question, folder: Path) -> str:
    """Keep a question on which solvers contradict each other; the line that says so."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{opinion.question}.smt2"
    says = f"{opinion.first} says {opinion.verdict}, {opinion.second} says {opinion.other}"
    path.write_text(f"; {question.name}: {says}\n{question.text}", encoding="utf-8")
    return f"CONTRADICTION: {question.name}: {says}: {path}"


def _rows(
    before: Sequence[Mapping[str, Any]],
    chosen: Sequence[Target],
    records: Sequence[Record | None],
    known: Mapping[str, Opinion],
) -> list[dict[str, Any]]:
    """The rows of designs: those of today, and the others of before."""
    found = {(row["kind"], row["design"]): dict(row) for row in before}
    for target, record in zip(chosen, records, strict=True):
        if record is None or not record.done:
            continue
        key, design = design_key(target.design.as_table()), target.design
        identified = {
            "name": design.name, "kind": target.kind, "built": built(design.implementation), "design": key,
            "questions": record.result["questions"],
        }  # fmt: skip
        found[target.kind, key] = row_of(identified, distinct(questions_of(record)), known)
    return list(found.values())


if __name__ == "__main__":
    sys.exit(program("formal-second", main, (MissingTool,)))
