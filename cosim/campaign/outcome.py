"""What a campaign came to, as data and as a page."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cosim.campaign.tasks import VECTORS
from cosim.campaign.units import campaign_units
from golden.unit import Unit
from golden.unit_file import unit_from_table
from jobs import Record
from jobs.contents import unit_key, unsealed

VERSIONS = ("verilator", "amaranth", "cocotb", "python", "numpy", "compiler", "isa", "processor")
"""Of what it was made with, what the page names beside the commit."""


def outcome_of(records: Sequence[Record], with_what: Mapping[str, str]) -> dict[str, Any]:
    """All that was run, and what was wrong; `complete` where every task has ended. Each operation says when it was run and
    with what, so that others can be put beside it later (`merged`)."""
    runs = [run for name in dict.fromkeys(design_of(record) for record in records) for run in [_run(records, name)]]
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    operations = {
        name: {"vectors": 0, "mismatches": 0, "date": date, "made_with": dict(with_what)}
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
    """An outcome with some operations run again, or for the first time: those of `after` take the place of what `before` has
    of them, the others stay as they are.

    Raises:
        ValueError: something failed in `before`, which does not say in which operation.
    """
    if not (before["complete"] and before["passed"]):
        raise ValueError("an outcome in which a run failed must be made again as a whole, got one; leave out --operation")
    kept = {name: row for name, row in before["operations"].items() if name not in after["operations"]}
    runs = [run for run in before["runs"] if run["operation"] in kept]
    return _whole({**kept, **after["operations"]}, [*runs, *after["runs"]], after["complete"], after["failures"])


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
    `design` and `verilog` are digests, by which the run is found (`formal.evidence`)."""
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
    operations = outcome["operations"]
    with_what = [[row["made_with"], row["date"]] for row in operations.values()]
    campaigns = [each for number, each in enumerate(with_what) if each not in with_what[:number]]
    lines = [
        "# The co-simulation campaign",
        "",
        f"`make campaign-cosim` sends at least {VECTORS:,} vectors of each operation through generated datapaths, compiled",
        "by Verilator, in volume mode, and compares every d with the golden model, bit for bit. It writes this page, and",
        "[outcome.json](../cosim/campaign/outcome.json), which holds more of it. With `--operation` it runs some",
        "operations and leaves the others' lines as they are: each says from which commit it was run.",
        "",
        f"{verdict} {outcome['vectors']:,} vectors, {outcome['mismatches']:,} mismatches.",
        "",
        "| operation | vectors | mismatches | date | sources of commit |",
        "| --- | ---: | ---: | --- | --- |",
    ]
    for name, row in operations.items():
        counts = f"{row['vectors']:,} | {row['mismatches']:,}"
        lines.append(f"| {name} | {counts} | {row['date']} | `{row['made_with']['commit']}` |")
    for made_with, date in campaigns:
        versions = ", ".join(f"{key} {made_with[key]}" for key in VERSIONS)
        lines += ["", f"{date}: SHA-256 of the sources `{made_with['sources']}`; {versions}."]
    lines += [
        "",
        "Each unit ran once with every seed listed, each time with the same number of vectors.",
        "",
        "| operation | unit | encoding | stages | seeds | vectors | mismatches | |",
        "| --- | --- | --- | ---: | --- | ---: | ---: | --- |",
    ]
    for run in outcome["runs"]:
        seeds, verdict = ", ".join(map(str, run["seeds"])), "passed" if run["passed"] else "**failed**"
        lines.append(
            f"| {run['operation']} | {run['unit']} | {run['encoding']} | {run['stages']} | {seeds} | "
            f"{run['vectors']:,} | {run['mismatches']:,} | {verdict} |"
        )
    if newer:
        lines += ["", "## What is newer than the run", ""]
        lines += ["These units have joined the campaign since, and no row above is of them:", ""]
        lines += [
            f"- {unit.operation.name}: {unit.name}, {unit.implementation.encoding}, stages: {unit.implementation.stages}"
            for unit in newer
        ]
    if outcome["failures"]:
        lines += ["", "## What failed", ""]
        lines += [f"- {name}: {'; '.join(said)}" for name, said in outcome["failures"].items()]
    return "\n".join([*lines, ""])
