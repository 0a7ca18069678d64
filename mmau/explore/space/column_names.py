"""Columns of results by name, as constraints and objectives have them: `cells`, `cost.cells`, `accuracy.normal.ulp.mean`."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from golden.checks import unknown

COST = (
    "cells", "depth", "transistors", "area_um2", "delay_ns", "power_mw", "energy_pj", "stages_for_clock",
    "cells_per_product", "area_um2_per_product", "energy_pj_per_product",
)  # fmt: skip
"""Numbers among the costs; a name alone is one of these."""

MEASURES = (
    "finite_rows", "special_mismatch", "relative_error.mean", "relative_error.median", "relative_error.p99",
    "relative_error.max", "ulp.mean", "ulp.p99", "bias.mean_ulp", "snr_db", "loss", "accuracy", "sum_error",
)  # fmt: skip
"""Numbers among the measures of a workload; the last three are those of a network."""


def check_column(where: str, name: str, workloads: Sequence[str]) -> None:
    """Raise ValueError unless there is such a column of numbers.

    Args:
        workloads: those that are measured.
    """
    known = [*COST, *(f"accuracy.{workload}.{measure}" for workload in workloads for measure in MEASURES)]
    if name.removeprefix("cost.") not in COST and name not in known:
        raise ValueError(f"{where} {unknown('column', name, known, shown=len(COST))}")


def is_cost(name: str) -> bool:
    """Whether a column is one of the costs."""
    return not name.startswith("accuracy.")


def value_of(name: str, measured: Mapping[str, Any]) -> float | None:
    """A column's value in what was measured of a point; None where it is not there.

    Results that are all exact have no noise: their snr_db is null in a record, and infinite here.

    Args:
        measured: `accuracy` and `cost` of a record, or what there is of them.
    """
    if is_cost(name):
        value = (measured.get("cost") or {}).get(name.removeprefix("cost."))
    else:
        value = measured.get("accuracy") or {}
        path = name.removeprefix("accuracy.")
        workload = max((each for each in value if path.startswith(f"{each}.")), key=len, default=None)
        if workload is None:
            return None
        value = value[workload]
        measure = path.removeprefix(f"{workload}.")
        if measure == "snr_db" and value.get("finite_rows") and value.get("exact_rows") == value["finite_rows"]:
            return inf
        for key in measure.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
