"""Columns of results: their names, as tables, constraints and objectives have them, their labels and which value is better.

In constraints and objectives: `cells`, `cost.cells`, `accuracy.normal.ulp.mean`.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal

from golden.checks import unknown

Better = Literal["low", "high", "zero"] | None
"""The better value: the lower, the higher, the one nearer to zero; None where a column is no figure of merit."""

COSTS: Mapping[str, tuple[str, str, Better]] = {
    "cells": ("cells", "", "low"),
    "depth": ("depth", "cells", "low"),
    "transistors": ("transistors", "", "low"),
    "registers": ("registers", "", "low"),
    "netlist_vectors": ("vectors through the mapped netlist", "", None),
    "area_um2": ("area", "µm²", "low"),
    "delay_ns": ("delay", "ns", "low"),
    "power_mw": ("power", "mW", "low"),
    "energy_pj": ("energy an operation", "pJ", "low"),
    "stages_for_clock": ("stages for the clock", "", "low"),
    "products": ("products of a step", "", None),
    "cells_per_product": ("cells per product", "", "low"),
    "area_um2_per_product": ("area per product", "µm²", "low"),
    "energy_pj_per_product": ("energy per product", "pJ", "low"),
}
"""The numbers among the costs: label, unit, better value."""

MEASURES: Mapping[str, tuple[str, str, Better]] = {
    "rows": ("rows", "", None),
    "finite_rows": ("finite rows", "", None),
    "exact_rows": ("exact rows", "", "high"),
    "special_mismatch": ("special values that differ", "", "low"),
    "relative_error.mean": ("relative error, mean", "", "low"),
    "relative_error.median": ("relative error, median", "", "low"),
    "relative_error.p99": ("relative error, 99th percentile", "", "low"),
    "relative_error.max": ("relative error, largest", "", "low"),
    "relative_error.unbounded": ("errors where the exact result is 0", "", "low"),
    "ulp.mean": ("error, mean", "ulp", "low"),
    "ulp.median": ("error, median", "ulp", "low"),
    "ulp.p99": ("error, 99th percentile", "ulp", "low"),
    "ulp.max": ("error, largest", "ulp", "low"),
    "bias.mean_ulp": ("bias", "ulp of the magnitude", "zero"),
    "bias.low95": ("bias, lower end of the 95% interval", "ulp of the magnitude", None),
    "bias.high95": ("bias, upper end of the 95% interval", "ulp of the magnitude", None),
    "magnitude_bias.mean_ulp": ("bias of the magnitude", "ulp of the magnitude", "zero"),
    "magnitude_bias.low95": ("bias of the magnitude, lower end of the 95% interval", "ulp of the magnitude", None),
    "magnitude_bias.high95": ("bias of the magnitude, upper end of the 95% interval", "ulp of the magnitude", None),
    "condition_median": ("condition number, median", "", None),
    "snr_db": ("signal to noise", "dB", "high"),
    "loss": ("loss of the network", "nats", "low"),
    "accuracy": ("accuracy of the network", "", "high"),
    "sum_error": ("error of the longest sums", "", "low"),
    "quantisation_error": ("error of quantising their operands", "", None),
    "worst.ulp": ("worst error found", "ulp", "low"),
    "worst.bound_ulp": ("bound of the error", "ulp", "low"),
    "monotonicity.violations": ("violations of monotonicity", "", "low"),
    "symmetry.violations": ("violations of symmetry", "", "low"),
}
"""The same for the measures of a workload."""

TABLE_ONLY = frozenset(
    ("registers", "netlist_vectors", "products", "rows", "exact_rows", "relative_error.unbounded", "ulp.median", "ulp.max",
     "bias.low95", "bias.high95", "magnitude_bias.mean_ulp", "magnitude_bias.low95", "magnitude_bias.high95",
     "condition_median", "quantisation_error", "worst.ulp", "worst.bound_ulp", "monotonicity.violations",
     "symmetry.violations")
)  # fmt: skip
"""Columns of the table that no constraint and no objective has."""

COST = tuple(name for name in COSTS if name not in TABLE_ONLY)
"""The costs that constraints and objectives may have; a name alone is one of these."""

MEASURE = tuple(name for name in MEASURES if name not in TABLE_ONLY)
"""The same of the measures of a workload."""


def check_column(where: str, name: str, workloads: Sequence[str]) -> None:
    """Raise ValueError unless there is such a column of numbers.

    Args:
        workloads: those that are measured.
    """
    known = [*COST, *(f"accuracy.{workload}.{measure}" for workload in workloads for measure in MEASURE)]
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
