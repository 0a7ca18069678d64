"""The campaign: `python -m studies.cosim_campaign OUTCOME.json PAGE.md STORE`.

Each run's result is recorded in the folder STORE when the run ends (`jobs`), so that an interrupted campaign resumes;
results of other sources or versions do not count. At the end OUTCOME.json and its page are written: the results and, in
OUTCOME.json, the digests of the Verilog. With --operation they keep the entries of the other operations, each with its date,
commit and versions. STORE has the files of failed runs, with a waveform of the first mismatch. Exit status: 0, all
passed; 1, a run failed; 2, refused; 128 + signal, interrupted.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cosim.runner.needed_tools import check_tools
from golden import OPERATIONS
from golden.files import check_output, write_atomically
from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from mmau.jobs import Record, Store, engine_for, program, run
from mmau.jobs.provenance import sealed, unsealed
from mmau.prove.proof_identity import operation_specification_digest
from mmau.prove.records import made_of
from mmau.report import markdown
from rtl.designs.identity import unit_key
from rtl.tools import MissingTool
from studies.cosim_campaign.tasks import VECTORS, campaign_units, made_with, simulate, tasks

VERSIONS = ("verilator", "amaranth", "cocotb", "python", "numpy", "compiler", "isa", "processor")
"""The keys of `made_with` that the page shows beside the commit."""


def outcome_of(records: Sequence[Record], with_what: Mapping[str, str]) -> dict[str, Any]:
    """The outcome of all runs, with their faults; `complete` is true if every task has ended. Each operation states when
    and with which versions it was run, so that `merged` can put others beside it later."""
    runs = [run for name in dict.fromkeys(design_of(record) for record in records) for run in [_run(records, name)]]
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    operations = {
        name: {"vectors": 0, "mismatches": 0, "date": date, "made_of": dict(made_of()), "made_with": dict(with_what)}
        for name in dict.fromkeys(run["operation"] for run in runs)
    }
    for each in runs:
        for key in ("vectors", "mismatches"):
            operations[each["operation"]][key] += each[key]
    failures = {
        record.task.name: record.result["failures"] if record.done else [f"{record.status}: {record.message}"]
        for record in records
        if not (record.done and record.result["passed"])
    }
    return _whole(operations, runs, all(record.done for record in records), failures)


def merged(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """An outcome with some operations run again, or for the first time: the entries of `after` replace those of `before`;
    the other operations stay.

    Raises:
        ValueError: a run failed in `before`, which does not record its operation.
    """
    if not (before["complete"] and before["passed"]):
        raise ValueError("an outcome in which a run failed must be made again as a whole, got one; leave out --operation")
    others = {name: row for name, row in before["operations"].items() if name not in after["operations"]}
    runs = [run for run in before["runs"] if run["operation"] in others]
    return _whole({**others, **after["operations"]}, [*runs, *after["runs"]], after["complete"], after["failures"])


def _whole(
    operations: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], complete: bool, failures: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "what": "generated datapaths in Verilator against the golden models, volume mode, every d bit for bit",
        "complete": complete,
        "passed": not failures,
        "vectors": sum(run["vectors"] for run in runs),
        "mismatches": sum(run["mismatches"] for run in runs),
        "operations": dict(operations),
        "runs": list(runs),
        "failures": dict(failures),
    }


def read_outcome(path: Path) -> dict[str, Any]:
    """An outcome as it was written.

    Raises:
        ValueError: the file holds something else. OSError: it cannot be read.
    """
    try:
        outcome = unsealed(path.read_bytes())
        page(outcome)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wanted = "must hold the outcome of a campaign, to which --operation adds"
        raise ValueError(f"{path} {wanted}: {error!r}; run the whole campaign into another file") from error
    return outcome


def design_of(record: Record) -> str:
    """The unit of a task, as TOML."""
    text: str = record.task.content["design"]["unit"]
    return text


def _run(records: Sequence[Record], text: str) -> dict[str, Any]:
    """All tasks of one unit. What is not done counts no vector, and one of two results that are missing is a failure.
    `design`, `verilog` and `specification` are digests, by which the run is found (`mmau.prove.records`)."""
    each = [record for record in records if design_of(record) == text]
    done = [record for record in each if record.done]
    unit = _unit(text)
    simulated = {record.result["verilog"] for record in done}
    return {
        "operation": unit.operation.name,
        "unit": unit.name,
        "encoding": unit.implementation.encoding,
        "stages": unit.implementation.stages,
        "seeds": [record.task.content["seed"] for record in each],
        "vectors": sum(record.result["received"] for record in done),
        "mismatches": sum(record.result["mismatches"] for record in done),
        "design": unit_key(unit),
        "specification": operation_specification_digest(unit.operation),
        "verilog": simulated.pop() if len(simulated) == 1 else "",
        "passed": len(done) == len(each) and all(record.result["passed"] for record in done),
    }


def _unit(text: str) -> Unit:
    return unit_from_table(tomllib.loads(text))


def not_run(outcome: Mapping[str, Any]) -> list[Unit]:
    """The units of the campaign that an outcome lacks: they are newer than its run of their operation."""
    run = {(row["unit"], row["encoding"], row["stages"]) for row in outcome["runs"]}
    return [
        unit for unit in campaign_units() if (unit.name, unit.implementation.encoding, unit.implementation.stages) not in run
    ]


def page(outcome: Mapping[str, Any], newer: Sequence[Unit] = ()) -> str:
    """The text of the page that shows an outcome.

    Args:
        newer: as `not_run` finds them.
    """
    verdict = "Every result was right." if outcome["passed"] else "**Not every run passed.**"
    parts = [
        INTRODUCTION,
        f"{verdict} {outcome['vectors']:,} vectors, {outcome['mismatches']:,} mismatches.",
        _operations(outcome["operations"]),
        *_made_with(outcome["operations"]),
        "Each unit ran once with every seed listed, each time with the same number of vectors.",
        _runs(outcome["runs"]),
    ]
    if newer:
        units = (
            f"{unit.operation.name}: {unit.name}, {unit.implementation.encoding}, stages: {unit.implementation.stages}"
            for unit in newer
        )
        parts += ["## What is newer than the run"]
        parts += ["These units have joined the campaign since, and no row above is of them:", markdown.bullets(units)]
    if outcome["failures"]:
        failures = (f"{name}: {'; '.join(reasons)}" for name, reasons in outcome["failures"].items())
        parts += ["## What failed", markdown.bullets(failures)]
    return markdown.document("The co-simulation campaign", *parts)


INTRODUCTION = f"""\
`make campaign-cosim` sends at least {VECTORS:,} vectors of each operation through generated datapaths, compiled
by Verilator, in volume mode, and compares every d with the golden model, bit for bit. It writes this page, and
[simulations.json](../../mmau/prove/simulations.json), which holds more of it. With `--operation` it runs some
operations and leaves the others' lines as they are: each says from which commit it was run."""


def _operations(operations: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (name, f"{row['vectors']:,}", f"{row['mismatches']:,}", row["date"], f"`{row['made_with']['commit']}`")
        for name, row in operations.items()
    ]
    return markdown.table(("operation", "vectors", "mismatches", "date", "sources of commit"), rows, numbers=(1, 2))


def _made_with(operations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each date and what was used then."""
    sentences = []
    for row in operations.values():
        made_with = row["made_with"]
        versions = ", ".join(f"{key} {made_with[key]}" for key in VERSIONS)
        sentences.append(f"{row['date']}: SHA-256 of the sources `{made_with['sources']}`; {versions}.")
    return list(dict.fromkeys(sentences))


def _runs(runs: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            run["operation"], run["unit"], run["encoding"], str(run["stages"]), ", ".join(map(str, run["seeds"])),
            f"{run['vectors']:,}", f"{run['mismatches']:,}", "passed" if run["passed"] else "**failed**",
        )
        for run in runs
    ]  # fmt: skip
    header = ("operation", "unit", "encoding", "stages", "seeds", "vectors", "mismatches", "")
    return markdown.table(header, rows, numbers=(3, 5, 6))


SECONDS_A_TASK = 7200.0
"""Time limit of a task (s): a hundred times what a run takes, so that a task that reaches it would never end."""


def main() -> int:
    """Run what is not yet known, then write both files."""
    parser = argparse.ArgumentParser(prog="campaign", description="Volume co-simulation of every operation.")
    parser.add_argument("outcome", type=Path, help="where OUTCOME.json goes")
    parser.add_argument("page", type=Path, help="where its page goes, Markdown")
    parser.add_argument("store", type=Path, help="the folder of results")
    parser.add_argument("--vectors", type=int, default=VECTORS, help="at least so many of each operation")
    names = [name for name in OPERATIONS if any(unit.operation.name == name for unit in campaign_units())]
    parser.add_argument(
        "--operation", action="append", choices=names, metavar="NAME", help="these alone; OUTCOME.json keeps the others"
    )
    parser.add_argument("--jobs", type=int, help="runs at a time; one a core by default")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, whose workers run in place of processes")
    options = parser.parse_args()
    if options.vectors < 1:
        raise ValueError(f"--vectors must be at least 1, got {options.vectors}")
    for output in (options.outcome, options.page):
        check_output(output)
    before = read_outcome(options.outcome) if options.operation else None
    check_tools("verilator", False)
    engine = engine_for(options.scheduler, options.jobs)
    with_what = made_with()
    wanted = tasks(with_what, options.vectors, only=options.operation)
    with Store(options.store, "campaign-cosim") as store:
        records = run(
            wanted, simulate, store, engine=engine, seconds=SECONDS_A_TASK, retry=True,
            unit="vectors", amount=lambda task: int(task.content["vectors"]),
        )  # fmt: skip
    outcome = outcome_of(records, with_what)
    if before is not None:
        outcome = merged(before, outcome)
    write_atomically(options.outcome, sealed(outcome).encode())
    write_atomically(options.page, page(outcome, not_run(outcome)).encode())
    for name, messages in outcome["failures"].items():
        print(f"{name}: {'; '.join(messages)}")
    return int(not outcome["passed"])


if __name__ == "__main__":
    sys.exit(program("campaign", main, (MissingTool,)))
