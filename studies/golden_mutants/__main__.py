"""Change every rule and constant of golden's reference one at a time, and see who notices on the boundary rows.

    python -m studies.golden_mutants TABLE.md STORE

The folder STORE records finished modules (`mmau.jobs`), so that an interrupted run of the same sources resumes. The exit
status is 1 if a mutation is noticed by fewer than it should be and `studies/golden_mutants/unnoticed.py` has no reason, or
has a reason for what is noticed.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from studies.golden_mutants.boundary_rows import boundary_units
from studies.golden_mutants.golden_mutants_page import page
from studies.golden_mutants.judge import Judge, reference_modules
from studies.golden_mutants.unnoticed import problems

SOURCES = (
    *GOLDEN, "mmau/formal/specification/*.py", "studies/symbolic/model_copy.py", "studies/golden_mutants/judge.py",
    "studies/golden_mutants/mutations.py", "studies/golden_mutants/witnesses.py", "studies/golden_mutants/literals.py",
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
