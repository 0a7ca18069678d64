"""The outcome of the campaign as data and as a page."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from mmau.jobs import Record
from mmau.jobs.store import unsealed
from mmau.prove.proof_identity import operation_specification_digest
from mmau.prove.records import made_of
from mmau.report import markdown
from rtl.designs.identity import unit_key
from studies.cosim_campaign.tasks import VECTORS, campaign_units

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
    for run in runs:
        for key in ("vectors", "mismatches"):
            operations[run["operation"]][key] += run[key]
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
