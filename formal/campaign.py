"""`make formal`: every distinct datapath of the catalogue in every encoding, and what else `formal.subjects` lists, proved
step by step: `python -m formal.campaign OUTCOME.json PAGE.md [--main-job] [--unit TEXT] [--seconds N] [--within N]`.

It goes on where it was interrupted: what is done stays in build/formal, the obligations of each subject and the answer to
each question. A question that two subjects share is asked once. A solver that is missing, crashes or gives up leaves its
question to the next one. The outcome names each design and its Verilog by digests: what `mmau` calls proved is found by them
(`formal.evidence`). `make formal-main` proves the main job's units, as they are built there.
Exit status: 0 where every obligation is proved, 1 where one is refuted, 3 where one is open.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from formal.evidence import SOURCES
from formal.obligations.units import Question
from formal.outcome import Settled, exit_status, summary, table
from formal.page import document
from formal.solvers.answer import PACKAGES, MissingSolver
from formal.subjects import Subject, main_job_subjects, subjects
from formal.tasks import ask, distinct, put_together, question_task, questions_of, subject_task
from golden.files import check_output, write_atomically
from golden.text import mmau_version
from jobs import Record, Store, program, run
from jobs.contents import VERILOG_PACKAGES, made_of, sealed
from jobs.provenance import provenance
from rtl.tools import MissingTool

SECONDS = 60.0
"""Of its process, after which a solver gives up a question."""

STUCK = 20.0
"""How many times as long a question may take by the clock, on a busy machine, before its process is ended."""

TOOLS = (*VERILOG_PACKAGES, "bitwuzla")
"""Packages that decide what the obligations are."""

STORE = Path("build/formal")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove what is not proved yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="formal", description="Prove every distinct datapath of the catalogue.")
    parser.add_argument("outcome", type=Path, help="where the outcome goes, JSON")
    parser.add_argument("page", type=Path, help="where its page goes, Markdown")
    parser.add_argument("--main-job", action="store_true", help="the units of the main job")
    parser.add_argument("--unit", metavar="TEXT", default="", help="only designs whose names hold the text")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help=f"for each question ({SECONDS:g})")
    parser.add_argument("--within", type=float, metavar="N", help="put no further design together after so many seconds")
    parser.add_argument("--jobs", type=int, metavar="N", help="tasks at a time; default: one a core")
    options = parser.parse_args(arguments)
    listed = main_job_subjects() if options.main_job else subjects()
    chosen = [subject for subject in listed if options.unit in subject.design.name]
    if not chosen:
        raise ValueError(f"--unit must be part of a unit's name, as `mmau list` has them, got {options.unit!r}")
    for output in (options.outcome, options.page):
        output.parent.mkdir(parents=True, exist_ok=True)
        check_output(output)
    made_with = provenance(SOURCES)
    settled = prove(chosen, STORE, options.seconds, options.jobs, options.within)
    outcome = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "made_of": made_of(SOURCES), "made_with": made_with,
        "versions": versions(), "seconds": options.seconds, **table(settled),
    }  # fmt: skip
    write_atomically(options.outcome, sealed(outcome).encode())
    write_atomically(options.page, document(outcome).encode())
    print("\n".join(summary(settled)))
    return exit_status(settled)


def prove(
    chosen: Sequence[Subject], folder: Path, seconds: float, jobs: int | None = None, within: float | None = None
) -> list[Settled]:
    """Put the obligations of subjects together, and ask the solvers.

    Args:
        folder: where everything is kept.
        seconds: for each question. jobs: tasks at a time.
        within: seconds after which no further subject is begun, by the clock; None for no limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    depends = {**made_of(SOURCES), "bitwuzla": version("bitwuzla")}
    with Store(folder / "subjects", what="obligations") as store:
        tasks = [subject_task(subject, depends) for subject in chosen]
        built = run(tasks, put_together, store, workers=jobs, retry=True, start_within=within)
    by_key = {record.task.key: record for record in built}
    records = [by_key.get(task.key) for task in tasks]
    questions = [questions_of(record) if record is not None and record.done else [] for record in records]
    answers = ask_all(distinct([question for each in questions for question in each]), folder, seconds, jobs)
    return [
        Settled(
            subject, tuple(each), answers,
            verilog=record.result["verilog"] if record is not None and record.done else "",
            problem="not begun" if record is None else record.message,
        )
        for subject, record, each in zip(chosen, records, questions, strict=True)
    ]  # fmt: skip


def ask_all(
    questions: Mapping[str, Question], folder: Path, seconds: float, jobs: int | None = None
) -> dict[str, list[dict[str, Any]]]:
    """What the solvers say of each question, by its key: one after the other, until one of them knows."""
    answers: dict[str, list[dict[str, Any]]] = {key: [] for key in questions}
    with Store(folder / "questions", what="questions") as store:
        for name in PACKAGES:
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
    """What a solver said; of one that crashed or did not end, that."""
    if record.done:
        return dict(record.result)
    return {"verdict": "unknown", "reason": f"{record.status}: {record.message}", "seconds": record.seconds}


def is_settled(answer: Mapping[str, Any]) -> bool:
    """Whether a solver knew."""
    return bool(answer["verdict"] != "unknown")


def versions() -> dict[str, str]:
    """Of this project, of the packages that decide what the obligations are, and of the solvers that are there."""
    found = {"mmau": mmau_version(), **{name: version(name) for name in TOOLS}}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except ImportError:
            found[name] = "missing"
    return found


if __name__ == "__main__":
    sys.exit(program("formal", main, (MissingTool,)))
