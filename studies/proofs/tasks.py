"""The work of a proof in tasks: build the obligations of a target, and ask a solver one question."""

import gzip
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mmau.jobs import Record, Task
from mmau.prove import proof_identity
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.records import asked_by
from mmau.prove.solvers.installed import limited_memory, solver, solver_version
from rtl.designs.identity import design_from_table
from studies.proofs.proved_designs import Target, built

QUESTIONS = "questions.json.gz"
"""The file that holds a target's questions."""


def target_task(target: Target, depends: Mapping[str, Any]) -> Task:
    """The task that builds the obligations of a target."""
    design = target.design
    name = f"{target.kind} {design.name} {built(design.implementation)}"
    return Task(name, {"kind": target.kind, "design": design.as_table()}, depends)


def put_together(content: dict[str, Any], folder: Path) -> Any:
    """Work of `target_task`: the proof's `Identity`; its questions are in a file."""
    identity, found = proof_identity.put_together(content["kind"], design_from_table(content["design"]))
    keep_questions(found, folder, QUESTIONS)
    return asdict(identity)


def keep_questions(questions: Sequence[Question], folder: Path, name: str) -> None:
    """Write questions into a file of a task."""
    text = json.dumps([{"name": each.name, "text": each.text, "wires": each.wires} for each in questions])
    (folder / name).write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))


def kept_questions(folder: Path, name: str) -> list[Question]:
    """The questions that `keep_questions` wrote."""
    listed = json.loads(gzip.decompress((folder / name).read_bytes()))
    return [Question(each["name"], each["text"], tuple(each["wires"])) for each in listed]


def questions_of(record: Record) -> list[Question]:
    """The questions of a target whose obligations are built."""
    if record.folder is None:
        raise ValueError(
            f"the questions of {record.task.name} are missing; remove the folder of the store, and run it again"
        )
    return kept_questions(record.folder, QUESTIONS)


def question_key(question: Question) -> str:
    """The key of a question; equal questions have equal keys."""
    return hashlib.sha256(question.text.encode()).hexdigest()


def question_task(question: Question, name: str, seconds: float) -> Task:
    """The task that asks a solver one question.

    Args:
        name: the solver's. seconds: CPU time of its process, after which it gives up.

    Raises:
        MissingSolver: it is not installed.
    """
    content = {"question": question.text, "solver": name, "seconds": seconds}
    return Task(f"{question.name} ({name})", content, {"version": solver_version(name), "asked_by": asked_by()})


def ask(content: dict[str, Any], folder: Path) -> Any:
    """Work of `question_task`: the verdict, the values of the variables, why it is unknown, and the seconds it took."""
    started = time.process_time()
    with limited_memory():
        answer = solver(content["solver"])(content["question"], content["seconds"])
    seconds = round(time.process_time() - started, 3)
    return {"verdict": answer.verdict, "values": dict(answer.values), "reason": answer.reason, "seconds": seconds}


def distinct(questions: Sequence[Question]) -> dict[str, Question]:
    """Questions by their keys, each once."""
    found: dict[str, Question] = {}
    for question in questions:
        found.setdefault(question_key(question), question)
    return found
