"""Results of an example space, as its page shows them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmau.explore.records import Record, check_records, value_at, verdict
from mmau.report import markdown

RESULTS = "results.jsonl"
"""The file of an exploration with a record a line."""


def read_results(folder: Path) -> list[Record]:
    """The records of an exploration.

    Raises:
        ValueError: a line that is no record. OSError: the file cannot be read.
    """
    records: list[Record] = []
    for number, line in enumerate((folder / RESULTS).read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{folder / RESULTS}, line {number}: must be a JSON object: {error}") from error
        if not isinstance(record, dict):
            raise ValueError(f"{folder / RESULTS}, line {number}: must be a JSON object, got {line[:40]!r}")
        records.append(record)
    check_records(records)
    return records


def points_with(records: Sequence[Record], **parameters: Any) -> list[Record]:
    """The points of the space that are done and have these parameters; `encoding` stands for `implementation.encoding`."""
    wanted = {("implementation.encoding" if key == "encoding" else key): value for key, value in parameters.items()}
    return [
        record
        for record in records
        if record["kind"] == "point"
        and record["status"] == "done"
        and all(record["parameters"].get(key) == value for key, value in wanted.items())
    ]


def the_point(records: Sequence[Record], **parameters: Any) -> Record:
    """The first of them.

    Raises:
        ValueError: there is none.
    """
    found = points_with(records, **parameters)
    if not found:
        raise ValueError(f"the results must hold a point that is done with {parameters}; run the space to its end first")
    return found[0]


def number(record: Record, *path: str) -> float:
    """A measured value.

    Raises:
        ValueError: it was not measured.
    """
    value = value_at(record, *path)
    if value is None:
        raise ValueError(f"{record['name']} has no {'.'.join(path)}; the page needs it")
    return float(value)


COSTS: Mapping[str, tuple[str, str]] = {
    "cells": ("cells", "{:,.0f}"),
    "depth": ("depth", "{:,.0f}"),
    "area_um2": ("area (µm²)", "{:,.0f}"),
    "delay_ns": ("delay (ns)", "{:.2f}"),
    "energy_pj": ("energy (pJ)", "{:.1f}"),
}
"""Columns of the cost that a page shows: heading, format."""


def cost_row(record: Record) -> list[str]:
    """Those of a point, and what co-simulation says of it; a dash where one was not measured."""
    values = [(value_at(record, "cost", key), shape) for key, (_, shape) in COSTS.items()]
    return [*("–" if value is None else shape.format(value) for value, shape in values), verdict(record).text]


def cost_table(rows: Sequence[tuple[Sequence[str], Record]], header: Sequence[str]) -> str:
    """A table of costs.

    Args:
        rows: the first cells of each row, and its point. header: of the first cells.
    """
    whole = (*header, *(heading for heading, _ in COSTS.values()), "circuit against its model")
    return markdown.table(whole, [[*first, *cost_row(record)] for first, record in rows])


def measured_with(records: Sequence[Record]) -> str:
    """A sentence on tools, clock and activity."""
    tools = dict.fromkeys(
        f"{name} {value}" for record in records for name, value in (value_at(record, "cost", "tools") or {}).items()
    )
    wanted: Mapping[str, Any] = next((found for record in records if (found := value_at(record, "cost", "wanted"))), {})
    conditions = [
        f"{wanted[key]:g} {unit}"
        for key, unit in (("clock_ns", "ns clock period"), ("activity", "activity"))
        if key in wanted
    ]
    library = f", cell library {wanted['library']}" if "library" in wanted else ""
    return f"Measured with {', '.join(tools)}{library}; energy at {', '.join(conditions)}. All units are combinational."


def percent(value: float, base: float) -> str:
    """By how much a value is above a base."""
    return f"{100 * (value / base - 1):+.1f} %"


def without_results(records: Sequence[Record]) -> str:
    """A sentence on points that are not done; empty where all are."""
    rows = [(f"`{record['name']}`", record["status"], record["message"]) for record in records if record["status"] != "done"]
    return "" if not rows else "Without results:\n\n" + markdown.table(("point", "status", "message"), rows)
