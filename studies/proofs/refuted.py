"""`make formal-refutations`: refutations of questions that this project's own checker accepts: `python -m
studies.proofs.refuted PROOFS.json REFUTED.json PAGE.md [--main-job] [--unit TEXT] [--seconds N]`.

The outcome holds by the digest of each question how many lemmas were checked, or why there is no refutation; refuted ones
are not asked again. The page of proofs is written with it.
Exit status: 0.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from mmau import OK
from mmau.formal.solvers.installed import solver_version
from mmau.jobs import Record, Store, Task, program, run
from mmau.jobs.sealed import sealed, unsealed
from rtl.tools import MissingTool
from studies.proofs.__main__ import SECOND, STORE, kept, obligations
from studies.proofs.proofs_page import document
from studies.proofs.proved_designs import add_limits, add_options, chosen_targets
from studies.proofs.refutation.refute import refutation
from studies.proofs.tasks import distinct, questions_of

SECONDS = 10.0
"""Time limit of the SAT solver for each attempt at a question."""

STUCK = 10.0
"""Factor from that to the elapsed time after which the check of a question is ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Refute what is not refuted yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="formal-refutations", description="Refute questions with checked lemmas.")
    parser.add_argument("proofs", type=Path, help="outcome of `make formal` (JSON)")
    parser.add_argument("refuted", type=Path, help="file for the outcome (JSON); what it holds is not asked again")
    parser.add_argument("page", type=Path, help="file for the page of proofs (Markdown)")
    add_options(parser)
    add_limits(parser, SECONDS, "of the solver", "question")
    options = parser.parse_args(arguments)
    for output in (options.refuted, options.page):
        check_output(output)
    proofs = unsealed(options.proofs.read_bytes())
    before = (kept(options.refuted) or {"questions": []})["questions"]
    chosen = chosen_targets(options)
    made = [record for record in obligations(chosen, STORE, options.jobs) if record is not None and record.done]
    questions = distinct([question for record in made for question in questions_of(record)])
    known = {row[0]: row for row in before}
    tasks = {
        key: Task(question.name, {"question": question.text, "seconds": options.seconds}, {"z3": solver_version("z3")})
        for key, question in sorted(questions.items(), key=lambda item: len(item[1].text))  # what is soon done comes first
        if key not in known or known[key][2] is None
    }
    with Store(STORE / "refutations", what="refutations") as store:
        records = run(
            tasks.values(), refute, store, workers=options.jobs, seconds=STUCK * options.seconds, unit="questions",
            start_within=options.within,
        )  # fmt: skip
    found = {record.task.key: record for record in records}
    tried = {key: found[task.key] for key, task in tasks.items() if task.key in found}
    known |= {key: [key, questions[key].name, *_row(record)] for key, record in tried.items()}
    outcome = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "seconds": options.seconds, "solver": f"z3 {solver_version('z3')}",
        "questions": [known[key] for key in sorted(known)],
    }  # fmt: skip
    write_atomically(options.refuted, sealed(outcome).encode())
    write_atomically(options.page, document(proofs, kept(SECOND), outcome).encode())
    refuted = sum(key in known and known[key][2] is not None for key in questions)
    print(f"{refuted} of {len(questions)} questions refuted by checked lemmas")
    return OK


def refute(content: dict[str, Any], folder: Path) -> Any:
    """Work: the number of checked lemmas, or null and why there is no refutation."""
    found = refutation(content["question"], folder, content["seconds"])
    for path in folder.iterdir():  # lemmas may be hundreds of megabytes
        path.unlink()
    return [found.lemmas, found.reason]


def _row(record: Record) -> list[Any]:
    return list(record.result) if record.done else [None, record.status]


if __name__ == "__main__":
    sys.exit(program("formal-refutations", main, (MissingTool,)))
