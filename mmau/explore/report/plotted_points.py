"""The points as plots and page need them: values by column, and whether a front may contain the point."""

from collections.abc import Sequence
from typing import Any

from mmau.explore.report.flat_records import Record, flattened, value_at, verdict
from mmau.explore.report.pareto import front

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


def equal_work(records: Sequence[Record], column: str) -> str:
    """The column of a cost that measures equal work: that per product, where the records' steps take unequal numbers of
    products and it is known per product; else the column itself."""
    known = {key for record in records for key in flattened(record)}
    shared = f"{column}_per_product"
    return shared if len(numbers_of_products(records)) > 1 and shared in known else column


def numbers_of_products(records: Sequence[Record]) -> list[int]:
    """The numbers of products that a step of the records' units takes, where they were measured."""
    found = {value_at(record, "cost", "products") for record in records}
    return sorted(number for number in found if number is not None)


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
