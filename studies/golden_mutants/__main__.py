"""Change every rule and constant of golden's reference one at a time, and see who notices on the boundary rows.

    python -m studies.golden_mutants TABLE.md STORE

The folder STORE records finished modules (`mmau.jobs`), so that an interrupted run of the same sources resumes. The exit
status is 1 if a mutation is noticed by fewer than it should be and `studies/golden_mutants/unnoticed.py` has no reason, or
has a reason for what is noticed.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.report import markdown
from studies.golden_mutants.boundary_rows import boundary_units
from studies.golden_mutants.judge import WITNESSES, Judge, reference_modules
from studies.golden_mutants.unnoticed import REASONS, problems, reason_of

Results = Mapping[str, Mapping[str, Any]]
"""Module to the result of its task."""


def page(results: Results) -> str:
    """The text of the page, in Markdown."""
    judged = {module: result["mutations"] for module, result in results.items() if result["mutations"]}
    rows = [_row(module.removeprefix("golden."), mutations) for module, mutations in judged.items()]
    every = {name: found for result in results.values() for name, found in result["mutations"].items()}
    return markdown.document(
        "What notices a change of golden",
        introduction(),
        markdown.table(HEADER, [*rows, _row("all", every)], numbers=range(1, len(HEADER))),
        "## What is not noticed, and why",
        *_reasons(every),
        "## What no row enters",
        "These functions compute no step: they check keys, describe formats and units, or serve chains.",
        ", ".join(f"`{module.removeprefix('golden.')}.{place}`" for module, result in results.items()
                  for place in result["not entered"]) + ".",
    )  # fmt: skip


HEADER = ("module of golden", "mutations", *WITNESSES, "not noticed by all")


def introduction() -> str:
    """The paragraphs on how the run was made."""
    units = boundary_units()
    rows = sum(len(unit.rows) for unit in units)
    return f"""\
`make golden-mutants` writes this page. \
It changes golden's reference in one place at a time: a comparison, a constant, an operator, a
branch, a part of a condition, the default of a key. Each change is held to the {rows:,} boundary rows of {len(units)}
operations (`studies/golden_mutants/boundary_rows.json`), and these should notice it: the recorded results, the second
implementation on fractions (twin), the native engine, and the specification that proofs are made against, built while golden
is changed. What the specification imports from golden changes there too; such constants are held to literals
(`studies/golden_mutants/judge.py`), and where these notice a change, the specification is not asked. A mutant that cannot
be loaded, raises an error or does not end is noticed by all."""


def _row(module: str, mutations: Mapping[str, Any]) -> list[str]:
    counts = [sum(witness in found["noticed"] for found in mutations.values()) for witness in WITNESSES]
    return [
        module,
        *(f"{n:,}" for n in (len(mutations), *counts, sum(bool(found["missing"]) for found in mutations.values()))),
    ]


def _reasons(every: Mapping[str, Any]) -> list[str]:
    """A paragraph and a list for each reason."""
    parts = []
    for reason in REASONS:
        names = [name for name, found in every.items() if found["missing"] and reason_of(name, found["missing"]) is reason]
        parts += [f"**{reason.text}** ({len(names)})", markdown.bullets(names)]
    return parts


SOURCES = (
    *GOLDEN, "mmau/prove/specification/*.py", "studies/symbolic/model_copy.py", "studies/golden_mutants/judge.py",
    "studies/golden_mutants/mutations.py", "studies/golden_mutants/witnesses.py", "studies/golden_mutants/judge.py",
    "studies/golden_mutants/boundary_rows.py", "studies/golden_mutants/boundary_rows.json", "tests/twin/*.py",
)  # fmt: skip
"""The sources that decide which witnesses notice a mutation."""


@cache
def judge() -> Judge:
    """The judge on the recorded rows, one in each process."""
    return Judge(boundary_units())


def judged(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one task: of every mutation of a module, who noticed it and who should have."""
    verdicts = {mutation.name: judge().verdict(mutation) for mutation in judge().judged(content["module"])}
    return {
        "mutations": {name: {"noticed": sorted(v.noticed), "missing": v.missing} for name, v in verdicts.items()},
        "not entered": judge().not_entered(content["module"]),
    }


def campaign(written: Path, store_folder: Path) -> int:
    """Judge what is not in the store yet, and write the table.

    Returns:
        Exit status: 1 where a module failed, or `problems` has any.
    """
    depends = {"sources": digest_of_sources(SOURCES)}
    tasks = [Task(module, {"module": module}, depends) for module in reference_modules()]
    with Store(store_folder, "mutants of golden") as store:
        records = run(tasks, judged, store, workers=1, retry=True, unit="modules")
    found = [f"{record.task.name}: {record.message}" for record in records if not record.done]
    results = {record.task.name: record.result for record in records if record.done}
    found += problems(results)
    for line in found:
        print(line)
    if not found:
        write_atomically(written, page(results).encode())
    return int(bool(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the mutations of every module, and return the exit status."""
    parser = argparse.ArgumentParser(prog="golden_mutants", description="Who notices a change of golden's reference.")
    parser.add_argument("table", type=Path, help="the file to write")
    parser.add_argument("store", type=Path, help="the folder of finished tasks")
    options = parser.parse_args(arguments)
    return program("golden_mutants", lambda: campaign(options.table, options.store))


if __name__ == "__main__":
    sys.exit(main())
