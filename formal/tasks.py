"""The work of a proof in tasks: put the obligations of a subject together, and ask a solver one question."""

import gzip
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from formal.obligations.units import TOP, Question
from formal.solvers.answer import limited_memory, solver, solver_version
from formal.subjects import KINDS, Subject, built
from jobs import Record, Task
from jobs.contents import verilog_digest
from rtl.designs.from_table import design_from_table
from rtl.verilog.emit import to_verilog

QUESTIONS = "questions.json.gz"
"""The file that holds a subject's questions."""


def subject_task(subject: Subject, depends: Mapping[str, Any]) -> Task:
    """Put the obligations of a subject together."""
    design = subject.design
    name = f"{subject.kind} {design.name} {built(design.implementation)}"
    return Task(name, {"kind": subject.kind, "design": design.as_table()}, depends)


def put_together(content: dict[str, Any], folder: Path) -> Any:
    """Work of `subject_task`: how many questions there are, and of which Verilog, by its digest; the questions are in a
    file."""
    design = design_from_table(content["design"])
    verilog = to_verilog(design, TOP)
    found = KINDS[content["kind"]].questions(design, verilog)
    text = json.dumps([{"name": each.name, "text": each.text, "wires": each.wires} for each in found])
    (folder / QUESTIONS).write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))
    return {"questions": len(found), "verilog": verilog_digest(verilog)}


def questions_of(record: Record) -> list[Question]:
    """The questions of a subject whose obligations are put together."""
    if record.folder is None:
        raise ValueError(
            f"the questions of {record.task.name} are missing; remove the folder of the store, and run it again"
        )
    listed = json.loads(gzip.decompress((record.folder / QUESTIONS).read_bytes()))
    return [Question(each["name"], each["text"], tuple(each["wires"])) for each in listed]


def question_key(question: Question) -> str:
    """What two questions have in common that are one."""
    return hashlib.sha256(question.text.encode()).hexdigest()


def question_task(question: Question, name: str, seconds: float) -> Task:
    """Ask a solver.

    Args:
        name: the solver's. seconds: of its process, after which it gives up.

    Raises:
        MissingSolver: it is not installed.
    """
    content = {"question": question.text, "solver": name, "seconds": seconds}
    return Task(f"{question.name} ({name})", content, {"version": solver_version(name)})


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
