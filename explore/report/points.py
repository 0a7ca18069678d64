"""What plots and page need of each point: its values by column, and whether a front may hold it."""

from collections.abc import Sequence
from typing import Any

from explore.report.pareto import front
from explore.report.records import Record, flattened, value_at, verdict

HISTOGRAM = ("ulp", "histogram")
"""Where a workload's measures hold the distribution of the error: [lower edge, count] of each bin, in ulp."""

ERROR = "relative_error.p99"
"""The measure that the plots show first: the 99th percentile, which the few results near zero do not settle."""


def workloads(records: Sequence[Record]) -> list[str]:
    """Names of the workloads, in order of appearance."""
    return list(dict.fromkeys(name for record in records for name in record.get("accuracy") or {}))


def number_of(record: Record, key: str) -> float | None:
    """A value of the record by its flat name; None where it has none that is a number."""
    value = flattened(record).get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_candidate(record: Record) -> bool:
    """Whether a front may hold the point: it was evaluated, and no vector showed its circuit to differ from its model."""
    return record["status"] == "done" and verdict(record).state != "differs"


def front_of(records: Sequence[Record], x: str, y: str) -> list[int]:
    """The numbers of the records on the front of two columns, the lower the better in both."""
    pairs = [(number_of(one, x), number_of(one, y)) if is_candidate(one) else (None, None) for one in records]
    return front(pairs)


def histogram(record: Record, workload: str) -> list[list[float]]:
    """The distribution of the error of a workload; empty where the record has none."""
    found: Any = value_at(record, "accuracy", workload, *HISTOGRAM)
    return found or []


def components(record: Record) -> dict[str, float]:
    """Area of each component (µm²); empty where it was not measured."""
    return {name: area for name, area in (value_at(record, "cost", "area_by_component") or {}).items() if area is not None}
