"""`make formal-registers`: every distinct datapath of the catalogue in every encoding with registers, at several numbers of
stages and inside of steps: `python -m studies.proofs.registers PAGE.md [--unit TEXT] [--seconds N] [--within N] [--jobs N]`.

What is asked of each is what `make formal` asks of the registers of its pipelines. `make formal` proves the datapath without
them. Questions about registers do not depend on widths, so most datapaths have the same; those about parts of steps do. It
resumes: the questions of a datapath and their answers stay in build/formal.
Exit status: 0 if all is proved, 1 if a question is refuted, 3 if one is open.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from golden import Unit
from golden.files import check_output, write_atomically
from golden.units.unit import MAX_STAGES
from mmau import DIFFERED, OK, UNDECIDED
from mmau.jobs import Record, Store, Task, program, run
from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.pipeline.questions import register_questions
from mmau.prove.records import made_of
from mmau.report import markdown
from rtl.designs.identity import design_from_table
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from studies.proofs.__main__ import SECONDS, STORE, ask_all
from studies.proofs.proved_designs import Target, add_limits, add_options, cut, distinct_targets, every_unit
from studies.proofs.tasks import distinct, keep_questions, kept_questions, question_key

STAGES = {f"{number}": number for number in (1, 3, MAX_STAGES)}
"""Numbers of registers, by the names of the ways: the fewest, some, and the most."""

INSIDE = "inside"
"""The way with a register at every boundary inside of a step, and at the end."""

WAYS = (*STAGES, INSIDE)
"""The ways in which registers are placed."""

Verdicts = Mapping[str, str]
"""Verdicts on questions, by their keys."""


@dataclass(frozen=True)
class Built:
    """A datapath with registers: its questions, or why there are none.

    Attributes:
        way: one of `WAYS`.
    """

    target: Target
    way: str
    questions: tuple[Question, ...]
    problem: str

    def verdict(self, verdicts: Verdicts) -> str:
        """`PROVED` if there are questions and all are proved, `REFUTED` if one is refuted."""
        found = {verdicts[question_key(question)] for question in self.questions}
        if REFUTED in found:
            return REFUTED
        return PROVED if found == {PROVED} and not self.problem else OPEN


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask the questions without an answer, and write the page."""
    parser = argparse.ArgumentParser(prog="formal-registers", description="Prove the catalogue's datapaths with registers.")
    parser.add_argument("page", type=Path, help="file for the page (Markdown)")
    add_options(parser, "datapaths", main_job=False)
    add_limits(parser, SECONDS, "for each question", "datapath")
    options = parser.parse_args(arguments)
    check_output(options.page)
    listed = distinct_targets([Target("datapath", UnitDesign(unit)) for unit in every_unit()])
    chosen = [target for target in listed if options.unit in target.design.name]
    found = [each for target, record in _built(chosen, options) for each in _each(target, record)]
    questions = distinct([question for each in found for question in each.questions])
    verdicts = {key: _verdict(answers) for key, answers in ask_all(questions, STORE, options.seconds, options.jobs).items()}
    not_begun = len(chosen) - sum(each.way == WAYS[0] for each in found)
    write_atomically(options.page, page(found, verdicts, not_begun).encode())
    results = [each.verdict(verdicts) for each in found]
    print(f"{results.count(PROVED)} of {len(results)} datapaths with registers proved, {len(questions)} distinct questions")
    if REFUTED in results:
        return DIFFERED
    return OK if set(results) == {PROVED} and not not_begun else UNDECIDED


def _built(chosen: Sequence[Target], options: argparse.Namespace) -> list[tuple[Target, Record | None]]:
    """The questions of every datapath; None of one that was not begun in time."""
    depends = {**made_of(), "bitwuzla": version("bitwuzla")}
    tasks = [Task(f"registers of {each.design.name}", {"design": each.design.as_table()}, depends) for each in chosen]
    STORE.mkdir(parents=True, exist_ok=True)
    with Store(STORE / "registers", what="questions about registers") as store:
        records = run(
            tasks, put_together, store, workers=options.jobs, retry=True, start_within=options.within, unit="datapaths"
        )
    by_key = {record.task.key: record for record in records}
    return [(target, by_key.get(task.key)) for target, task in zip(chosen, tasks, strict=True)]


def put_together(content: dict[str, Any], folder: Path) -> Any:
    """Work: for each way that the datapath has, why there are no questions, if there are none; questions are in files."""
    design = design_from_table(content["design"])
    if not isinstance(design, UnitDesign):
        raise TypeError(f"a datapath of the catalogue must be a unit, got {design}")
    datapath, problems = to_verilog(design, TOP), dict[str, str]()
    for way in WAYS:
        unit = with_registers(design.unit, way)
        if unit is None:
            continue
        questions: list[Question] = []
        try:
            questions, problem = register_questions(UnitDesign(unit), datapath=datapath), ""
        except NotProvable as error:
            problem = str(error)
        keep_questions(questions, folder, _file_of(way))
        problems[way] = problem
    return problems


def with_registers(unit: Unit, way: str) -> Unit | None:
    """A combinational unit with registers placed in a way; None if it has no boundary for one."""
    if way == INSIDE:
        return cut(unit)
    return replace(unit, implementation=replace(unit.implementation, stages=STAGES[way]))


def _each(target: Target, record: Record | None) -> list[Built]:
    if record is None:
        return []
    if not record.done or record.folder is None:
        return [Built(target, way, (), record.message) for way in WAYS]
    return [
        Built(target, way, tuple(kept_questions(record.folder, _file_of(way))), problem)
        for way, problem in record.result.items()
    ]


def _file_of(way: str) -> str:
    """The file of a task that holds the questions of one way."""
    return f"{way}.json.gz"


def _verdict(answers: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {answer["verdict"] for answer in answers}
    return REFUTED if "sometimes" in verdicts else PROVED if "never" in verdicts else OPEN


def _words(way: str) -> str:
    return f"registers {way} of steps" if way == INSIDE else f"{way} stages"


def page(found: Sequence[Built], verdicts: Verdicts, not_begun: int) -> str:
    """The page as Markdown.

    Args:
        not_begun: number of datapaths of which nothing was asked.
    """
    rows, missing = list[Sequence[str]](), list[str]()
    for operation in dict.fromkeys(each.target.design.operation.name for each in found):
        for way in WAYS:
            mine = [each for each in found if each.target.design.operation.name == operation and each.way == way]
            if not mine:
                continue
            counts = [sum(each.verdict(verdicts) == verdict for each in mine) for verdict in (PROVED, REFUTED, OPEN)]
            texts = len(distinct([question for each in mine for question in each.questions]))
            rows.append((operation, way, str(len(mine)), *map(str, counts), str(texts)))
            missing += [
                f"{each.target.design.name}, {each.target.design.implementation.encoding}, {_words(way)}: {each.problem}"
                for each in mine
                if each.problem
            ]
    proved = sum(each.verdict(verdicts) == PROVED for each in found)
    left = f" {not_begun} datapaths were not begun." if not_begun else ""
    header = ("operation", "registers", "datapaths", "proved", "refuted", "open", "distinct questions")
    return markdown.document(
        "Datapaths with registers",
        f"""\
`make formal-registers` writes this page. Every distinct datapath of the catalogue, in every encoding and with
{", ".join(STAGES)} stages of registers, is to give each result once, in order, and as it gives it without registers, however
it stalls ([formal.md](../guides/formal.md#pipelines-and-handshake)); so is every one whose steps have boundaries inside
([architectures.md](architectures.md#stages)), with a register at each of these and at the end (`{INSIDE}`). {proved:,} of
{len(found):,} are proved, by {len(verdicts)} distinct questions. Questions about registers hold no width.
Whether the parts of steps compute what the steps do is asked of each
datapath in which both are not the same expressions already.{left}""",
        markdown.table(header, rows, numbers=range(1, 7)),
        *(["## Not proved", markdown.bullets(missing)] if missing else []),
    )


if __name__ == "__main__":
    sys.exit(program("formal-registers", main, (MissingTool,)))
