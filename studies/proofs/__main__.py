"""`make formal`: every distinct datapath of the catalogue in every encoding, and the others of `proved_designs`, proved step
by step:
`python -m studies.proofs OUTCOME.json PAGE.md [--main-job] [--unit TEXT] [--missing] [--seconds N] [--within N]`.

It resumes after an interruption: the obligations of each target and the answer to each question stay in build/formal. A
question that two targets share is asked once. If a solver is missing, crashes or gives up, the next one is asked. The
outcome names each design, its Verilog, its specification and its questions by digests: `mmau.prove.records`
finds proofs by them, and `studies.proofs.compare` checks whether they are still valid. `make formal-main` proves the main
job's units, as they are built there. `make formal-missing` proves the designs that OUTCOME lacks, and adds them to it.
Exit status: 0 if every obligation is proved, 1 if one is refuted, 3 if one is open.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from golden.text import mmau_version
from mmau.jobs import Record, Store, program, run
from mmau.jobs.provenance import provenance, sealed, unsealed
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.proof_identity import Identity
from mmau.prove.records import PACKAGES as VERILOG_PACKAGES
from mmau.prove.records import SOURCES, asked_by, made_of
from mmau.prove.solvers.installed import PACKAGES, MissingSolver
from rtl.tools import MissingTool
from studies.proofs.outcome import NOT_BEGUN, Settled, exit_status, keep_opinions, missing, summary, table, with_added
from studies.proofs.proofs_page import document
from studies.proofs.proved_designs import Target, add_limits, add_options, chosen_targets, targets
from studies.proofs.tasks import ask, distinct, put_together, question_task, questions_of, target_task

SECONDS = 60.0
"""Time limit of a solver for one question (CPU seconds of its process)."""

STUCK = 20.0
"""Factor from the time limit to the elapsed time, on a busy machine, after which the solver's process is ended."""

STORE = Path("build/formal")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove the targets that are not proved yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="formal", description="Prove every distinct datapath of the catalogue.")
    parser.add_argument("outcome", type=Path, help="file for the outcome (JSON)")
    parser.add_argument("page", type=Path, help="file for its page (Markdown)")
    add_options(parser)
    parser.add_argument(
        "--missing", action="store_true", help="only designs of which the outcome has no row; it keeps those it has"
    )
    add_limits(parser, SECONDS, "for each question", "design")
    options = parser.parse_args(arguments)
    chosen = chosen_targets(options)
    if not chosen:
        raise ValueError(f"--unit must be part of a unit's name, as `mmau list` has them, got {options.unit!r}")
    before = unsealed(options.outcome.read_bytes()) if options.missing else None
    if before is not None:
        if before["asked_by"] != asked_by():
            raise ValueError(f"the solvers of {options.outcome} were asked by other code than this; omit --missing")
        chosen = missing(chosen, before["subjects"])
        if not chosen:
            print(f"{options.outcome} has a row of every design")
            return 0
    for output in (options.outcome, options.page):
        output.parent.mkdir(parents=True, exist_ok=True)
        check_output(output)
    made_with = provenance(SOURCES)
    settled = prove(chosen, STORE, options.seconds, options.jobs, options.within)
    outcome = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "made_of": dict(made_of()), "asked_by": asked_by(),
        "made_with": made_with,
        "versions": versions(), "seconds": options.seconds, **table(settled),
    }  # fmt: skip
    keep_opinions(outcome["subjects"], rows_of(options.outcome))
    if before is not None:
        outcome = with_added(before, outcome, targets())
    write_atomically(options.outcome, sealed(outcome).encode())
    write_atomically(options.page, document(outcome).encode())
    print("\n".join(summary(settled)))
    return exit_status(settled)


def prove(
    chosen: Sequence[Target], folder: Path, seconds: float, jobs: int | None = None, within: float | None = None
) -> list[Settled]:
    """Build the obligations of targets, and ask the solvers.

    Args:
        folder: the folder of the stores.
        seconds: the limit for each question. jobs: tasks at a time.
        within: elapsed seconds after which no further target is started; None for no limit.
    """
    records = obligations(chosen, folder, jobs, within)
    questions = [questions_of(record) if record is not None and record.done else [] for record in records]
    answers = ask_all(distinct([question for each in questions for question in each]), folder, seconds, jobs)
    return [
        Settled(
            target, tuple(each), answers,
            identity=Identity(**record.result) if record is not None and record.done else None,
            problem=NOT_BEGUN if record is None else record.message,
        )
        for target, record, each in zip(chosen, records, questions, strict=True)
    ]  # fmt: skip


def obligations(
    chosen: Sequence[Target], folder: Path, jobs: int | None = None, within: float | None = None
) -> list[Record | None]:
    """The obligations of targets, as `studies.proofs.tasks.put_together` gives them; None for targets that were not
    started.

    Args:
        as for `prove`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    depends = {**made_of(), "bitwuzla": version("bitwuzla")}
    with Store(folder / "subjects", what="obligations") as store:
        tasks = [target_task(target, depends) for target in chosen]
        built = run(tasks, put_together, store, workers=jobs, retry=True, start_within=within)
    by_key = {record.task.key: record for record in built}
    return [by_key.get(task.key) for task in tasks]


def ask_all(
    questions: Mapping[str, Question],
    folder: Path,
    seconds: float,
    jobs: int | None = None,
    solvers: Iterable[str] = PACKAGES,
) -> dict[str, list[dict[str, Any]]]:
    """The answers of the solvers to each question, by the question's key. Solvers are asked in turn until one decides it."""
    answers: dict[str, list[dict[str, Any]]] = {key: [] for key in questions}
    with Store(folder / "questions", what="questions") as store:
        for name in solvers:
            waiting = [key for key, given in answers.items() if not any(is_settled(answer) for answer in given)]
            if not waiting:
                break
            try:
                tasks = {key: question_task(questions[key], name, seconds) for key in waiting}
            except MissingSolver as error:
                for key in waiting:
                    answers[key].append({"solver": name, "verdict": "unknown", "reason": str(error)})
                continue
            records = run(tasks.values(), ask, store, workers=jobs, seconds=STUCK * seconds, unit="questions", retry=True)
            found = {record.task.key: record for record in records}
            for key, task in tasks.items():
                answers[key].append({"solver": name, **answer_of(found[task.key])})
    return answers


def answer_of(record: Record) -> dict[str, Any]:
    """The answer of a solver; unknown if it crashed or was stopped."""
    if record.done:
        return dict(record.result)
    return {"verdict": "unknown", "reason": f"{record.status}: {record.message}", "seconds": record.seconds}


def is_settled(answer: Mapping[str, Any]) -> bool:
    """Whether a solver decided the question."""
    return bool(answer["verdict"] != "unknown")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of an outcome file that this run replaces; no rows if there is no complete file."""
    try:
        return list(unsealed(path.read_bytes())["subjects"])
    except (OSError, ValueError, KeyError):
        return []


def versions() -> dict[str, str]:
    """Versions of this project, of the packages that decide the obligations, and of the installed solvers."""
    found = {"mmau": mmau_version(), **{name: version(name) for name in VERILOG_PACKAGES}}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except ImportError:
            found[name] = "missing"
    return found


if __name__ == "__main__":
    sys.exit(program("formal", main, (MissingTool,)))
