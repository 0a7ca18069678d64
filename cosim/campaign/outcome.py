"""What a campaign came to, as data and as a page."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cosim.campaign.tasks import VECTORS
from golden.unit import Unit, unit_from_table
from jobs import Record

VERSIONS = ("verilator", "amaranth", "cocotb", "python", "numpy", "compiler", "isa", "processor")
"""Of what it was made with, what the page names beside the commit."""


def outcome_of(records: Sequence[Record], with_what: Mapping[str, str]) -> dict[str, Any]:
    """All that was run, and what was wrong; `complete` where every task has ended."""
    runs = [run for name in dict.fromkeys(design_of(record) for record in records) for run in [_run(records, name)]]
    operations = list(dict.fromkeys(run["operation"] for run in runs))
    return {
        "what": "generated datapaths in Verilator against the golden models, volume mode, every d bit for bit",
        "made_with": dict(with_what),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "complete": all(record.done for record in records),
        "passed": all(record.done and record.result["passed"] for record in records),
        "vectors": sum(run["vectors"] for run in runs),
        "mismatches": sum(run["mismatches"] for run in runs),
        "worker_seconds": round(sum(record.seconds for record in records), 1),
        "operations": {
            name: {key: sum(run[key] for run in runs if run["operation"] == name) for key in ("vectors", "mismatches")}
            for name in operations
        },
        "runs": runs,
        "failures": {
            record.task.name: record.result["failures"] if record.done else [f"{record.status}: {record.message}"]
            for record in records
            if not (record.done and record.result["passed"])
        },
    }


def design_of(record: Record) -> str:
    """The unit of a task, as TOML."""
    text: str = record.task.content["design"]["unit"]
    return text


def _run(records: Sequence[Record], text: str) -> dict[str, Any]:
    """All tasks of one unit. What is not done counts no vector, and one of two results that are missing is a failure."""
    each = [record for record in records if design_of(record) == text]
    done = [record for record in each if record.done]
    unit = _unit(text)
    return {
        "operation": unit.operation.name,
        "unit": unit.name,
        "encoding": unit.implementation.encoding,
        "stages": unit.implementation.stages,
        "seeds": [record.task.content["seed"] for record in each],
        "vectors": sum(record.result["received"] for record in done),
        "mismatches": sum(record.result["mismatches"] for record in done),
        "passed": len(done) == len(each) and all(record.result["passed"] for record in done),
    }


def _unit(text: str) -> Unit:
    return unit_from_table(tomllib.loads(text))


def page(outcome: Mapping[str, Any]) -> str:
    """The text of the page that shows an outcome."""
    made_with = outcome["made_with"]
    verdict = "Every result was right." if outcome["passed"] else "**Not every run passed.**"
    lines = [
        "# The co-simulation campaign",
        "",
        f"`make campaign-cosim` sends at least {VECTORS:,} vectors of each operation through generated datapaths, compiled",
        "by Verilator, in volume mode, and compares every d with the golden model, bit for bit. It writes this page, and",
        "[campaign-cosim.json](campaign-cosim.json), which holds more of it.",
        "",
        f"{verdict} {outcome['vectors']:,} vectors, {outcome['mismatches']:,} mismatches, {outcome['date']}, commit",
        f"`{made_with['commit']}`; " + ", ".join(f"{key} {made_with[key]}" for key in VERSIONS) + ".",
        "",
        "| operation | vectors | mismatches |",
        "| --- | ---: | ---: |",
    ]
    for name, counts in outcome["operations"].items():
        lines.append(f"| {name} | {counts['vectors']:,} | {counts['mismatches']:,} |")
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
    if outcome["failures"]:
        lines += ["", "## What failed", ""]
        lines += [f"- {name}: {'; '.join(said)}" for name, said in outcome["failures"].items()]
    return "\n".join([*lines, ""])
