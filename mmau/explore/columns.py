"""Columns of results: their names, as tables, constraints and objectives have them, labels, units and which value is better.

In constraints and objectives: `cells`, `cost.cells`, `accuracy.normal.ulp.mean`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

from golden.checks import listed, unknown
from mmau.explore.accuracy.modes import MODES
from mmau.explore.records import Cell, Record, flattened, is_number, quantises

Better = Literal["low", "high", "zero"] | None
"""Which value of a column is better: the lower, the higher, or the one nearer to zero; None where a column is no figure of
merit."""


class Figure(NamedTuple):
    """The content of a column, in words.

    Attributes:
        label: without the unit. unit: empty if there is none. better: the better value.
        is_limited: whether constraints and objectives may have it; else it is of the table alone.
    """

    label: str
    unit: str = ""
    better: Better = None
    is_limited: bool = True


COSTS: Mapping[str, Figure] = {
    "cells": Figure("cells", "", "low"),
    "depth": Figure("depth", "cells", "low"),
    "transistors": Figure("transistors", "", "low"),
    "registers": Figure("registers", "", "low", False),
    "netlist_vectors": Figure("vectors through the mapped netlist", is_limited=False),
    "area_um2": Figure("area", "µm²", "low"),
    "delay_ns": Figure("delay", "ns", "low"),
    "power_mw": Figure("power, no glitches", "mW", "low"),
    "energy_pj": Figure("energy of a step, no glitches", "pJ", "low"),
    "nand2_equivalents": Figure("NAND2 equivalents", "", "low"),
    "delay_fo4": Figure("delay", "FO4", "low"),
    "tops_per_mm2": Figure("throughput per area of the datapath", "TOPS/mm²", "high"),
    "tops_per_watt": Figure("throughput per power of the datapath, no glitches", "TOPS/W", "high"),
    "meets_clock": Figure("meets the clock", is_limited=False),
    "mapped_for": Figure("mapped for", is_limited=False),
    "energy_unit_delay_pj": Figure("energy of a step, with every glitch", "pJ", "low"),
    "changes_per_net": Figure("changes of a net in a cycle", "", "low", False),
    "stages_for_clock": Figure("stages for the clock", "", "low"),
    "products": Figure("products of a step", is_limited=False),
    "cells_per_product": Figure("cells per product", "", "low"),
    "area_um2_per_product": Figure("area of the datapath per product", "µm²", "low"),
    "energy_pj_per_product": Figure("energy of the datapath per product, no glitches", "pJ", "low"),
    "energy_unit_delay_pj_per_product": Figure("energy of the datapath per product, with every glitch", "pJ", "low"),
    "array_area_um2": Figure("area of the array", "µm²", "low"),
    "array_clock_ns": Figure("clock of the array", "ns", "low"),
    "array_energy_pj": Figure("energy of a cycle of the array, no glitches", "pJ", "low"),
    "array_area_um2_per_mac": Figure("area of the array per MAC", "µm²", "low"),
    "array_energy_pj_per_mac": Figure("energy of the array per MAC, no glitches", "pJ", "low"),
    "array_tops_per_mm2": Figure("throughput per area of the array", "TOPS/mm²", "high"),
    "array_tops_per_watt": Figure("throughput per power of the array, no glitches", "TOPS/W", "high"),
}
"""The figures of each numeric cost."""

STANDARD_ERROR = "snr_standard_error_db"
"""The table of a workload's measures with the standard errors of its signal-to-noise ratios (dB)."""

MEASURES: dict[str, Figure] = {
    "rows": Figure("rows", is_limited=False),
    "finite_rows": Figure("finite rows"),
    "exact_rows": Figure("exact rows", "", "high", False),
    "special_mismatch": Figure("special values that differ", "", "low"),
    "relative_error.mean": Figure("relative error, mean", "", "low"),
    "relative_error.median": Figure("relative error, median", "", "low"),
    "relative_error.p99": Figure("relative error, 99th percentile", "", "low"),
    "relative_error.max": Figure("relative error, largest", "", "low"),
    "relative_error.unbounded": Figure("errors where the exact result is 0", "", "low", False),
    "ulp.mean": Figure("error, mean", "ulp", "low"),
    "ulp.median": Figure("error, median", "ulp", "low", False),
    "ulp.p99": Figure("error, 99th percentile", "ulp", "low"),
    "ulp.max": Figure("error, largest", "ulp", "low", False),
    "bias.mean_ulp": Figure("bias", "ulp of the magnitude", "zero"),
    "bias.low95": Figure("bias, lower end of the 95% interval", "ulp of the magnitude", is_limited=False),
    "bias.high95": Figure("bias, upper end of the 95% interval", "ulp of the magnitude", is_limited=False),
    "magnitude_bias.mean_ulp": Figure("bias of the magnitude", "ulp of the magnitude", "zero", False),
    "magnitude_bias.low95": Figure(
        "bias of the magnitude, lower end of the 95% interval", "ulp of the magnitude", None, False
    ),
    "magnitude_bias.high95": Figure(
        "bias of the magnitude, upper end of the 95% interval", "ulp of the magnitude", None, False
    ),
    "condition_median": Figure("condition number, median", is_limited=False),
    "total_snr_db": Figure("total SNR", "dB", "high"),
    "quantisation_snr_db": Figure("SNR of quantisation alone", "dB", "high"),
    "arithmetic_snr_db": Figure("SNR of arithmetic alone", "dB", "high"),
    **{
        f"{STANDARD_ERROR}.{_of}": Figure(f"standard error of the {_label}", "dB", "low", False)
        for _of, _label in (
            ("total", "total SNR"),
            ("quantisation", "SNR of quantisation"),
            ("arithmetic", "SNR of arithmetic"),
        )
    },
    "loss": Figure("loss of the network", "nats", "low"),
    "accuracy": Figure("accuracy of the network", "", "high"),
    "sum_error": Figure("error of the longest sums", "", "low"),
    "quantisation_error": Figure("error of quantising their operands", is_limited=False),
    "worst.ulp": Figure("worst error found", "ulp", "low", False),
    "worst.bound_ulp": Figure("bound of the error", "ulp", "low", False),
    "monotonicity.violations": Figure("violations of monotonicity", "", "low", False),
    "symmetry.violations": Figure("violations of symmetry", "", "low", False),
}
"""The measures of a workload; errors and biases are those of the arithmetic alone."""

for _of, _label in (("total", "quantisation and arithmetic"), ("quantisation", "quantisation alone")):
    MEASURES |= {
        f"{_of}.{key}": figure._replace(label=f"{figure.label}, {_label}")
        for key, figure in MEASURES.items()
        if key.startswith(("relative_error.", "ulp.", "bias.", "magnitude_bias."))
    }

VERIFICATION: Mapping[str, Figure] = {
    "cosimulation.vectors": Figure("vectors wanted in co-simulation"),
    "cosimulation.sent": Figure("vectors sent"),
    "cosimulation.received": Figure("results compared"),
    "cosimulation.mismatches": Figure("mismatches"),
    "cosimulation.seed": Figure("seed of the vectors"),
    "cosimulation.checked_by_reference": Figure("results checked by the reference engine"),
    "cosimulation.first_mismatch": Figure("first mismatch"),
    "proof.proved": Figure("proved for every input"),
    "proof.reason": Figure("why it is not proved"),
    "proof.obligations": Figure("obligations of its proof"),
}
"""The columns of co-simulation and proof, named with the table of the record that holds them."""

COST = tuple(name for name, figure in COSTS.items() if figure.is_limited)
"""The columns of cost that constraints and objectives may use, by name without a table."""

MEASURE = tuple(name for name, figure in MEASURES.items() if figure.is_limited)
"""The measures of a workload that constraints and objectives may use."""

ORDER = ("axes", "parameters", "cost", "accuracy", "cosimulation", "proof", "seconds")
"""The tables of a record, in the order of the columns."""


STATED_ONCE = ("cost.missing.", "cost.tools.", "cost.wanted.")
"""The columns that the page states once for all points."""


SNR = "snr_db"
"""Name for the signal-to-noise ratio that compares the points of a space: `total_snr_db` where operands' formats or scales
vary, else `arithmetic_snr_db`."""


def named(name: str, swept: Collection[str]) -> str:
    """The column that a name means, where the keys `swept` vary."""
    if not name.endswith(f".{SNR}"):
        return name
    which = "total" if any(map(quantises, swept)) else "arithmetic"
    return f"{name.removesuffix(SNR)}{which}_{SNR}"


def misleads(name: str, swept: Collection[str]) -> str:
    """A warning where a column leaves out what varies; empty where it does not."""
    varying = [key for key in swept if quantises(key)]
    measure = next((each for each in MEASURES if name.endswith(f".{each}")), "")
    if is_cost(name) or not varying or not measure or measure.startswith(("total", "quantisation", "loss", "accuracy")):
        return ""
    return (
        f"{name} is against the exact sum of operands that are quantised already, while {listed(varying)} varies: coarse "
        f"formats look as good as fine ones; use total_{SNR}, or the measures total.…"
    )


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


def flat_name(name: str) -> str:
    """The flat name of a column that constraints and objectives may name without its table."""
    return f"cost.{name.removeprefix('cost.')}" if is_cost(name) else name


def value_of(name: str, measured: Mapping[str, Any]) -> float | None:
    """The value of a column among the measurements of a point; None where it is missing.

    Results that are all exact have no noise: their ratios are null in a record, and infinite here.

    Args:
        measured: the tables `accuracy` and `cost` of a record; either may be missing.
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
        if measure.startswith(f"{MODES}."):
            _, mode, measure = measure.split(".", 2)
            value = (value.get(MODES) or {}).get(mode) or {}
        if measure.endswith(SNR) and value.get(measure) is None and _is_exact(value, measure):
            return inf
        for key in measure.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
    return value if is_number(value) else None


def _is_exact(measured: Mapping[str, Any], measure: str) -> bool:
    """Whether no row had an error, of those that a signal-to-noise ratio is about."""
    table = measured.get(measure.removesuffix(f"_{SNR}"), measured)
    errors = table.get("relative_error") or {}
    return bool(measured.get("finite_rows")) and errors.get("max") == 0 and not errors.get("unbounded")


class Column(NamedTuple):
    """A column of values.

    Attributes:
        key: the flat name. label: without the unit. unit: empty if there is none.
        better: which value is the better one. number: whether all values are numbers.
    """

    key: str
    label: str
    unit: str
    better: Better
    number: bool

    @property
    def title(self) -> str:
        """The label of the column and its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


def columns(records: Sequence[Record]) -> list[Column]:
    """Every column of the records' tables that has a value somewhere, but for lists, tools and reasons of missing values."""
    values: dict[str, list[Cell]] = {}
    for record in records:
        for key, value in flattened(record).items():
            top = key.partition(".")[0]
            if top in ORDER and not key.startswith(STATED_ONCE) and not isinstance(value, list):
                values.setdefault(key, []).append(value)
    present = {key: [value for value in found if value is not None] for key, found in values.items()}
    named = [described(key, all(map(is_number, held))) for key, held in present.items() if held]
    return sorted(named, key=lambda column: ORDER.index(column.key.partition(".")[0]))


def described(key: str, number: bool) -> Column:
    """The column of a flat name."""
    top, _, rest = key.partition(".")
    if top == "cost" and rest in COSTS:
        return _column(key, COSTS[rest], number)
    if key in VERIFICATION:
        return _column(key, VERIFICATION[key], number)
    if top == "axes":
        return Column(key, rest, "", None, number)
    if top == "parameters":
        return Column(key, rest.removeprefix("implementation."), "", None, number)
    if top == "seconds":
        return Column(key, f"time for {rest}", "s", None, number)
    if top == "accuracy":
        return _measure(key, rest, number)
    if match := re.fullmatch(r"cost\.area_by_component\.(.+)", key):
        return Column(key, f"area of {match[1]}", "µm²", "low", number)
    if match := re.fullmatch(r"cost\.delay_by_stages\.(\d+)", key):
        return Column(key, f"delay with {match[1]} stages", "ns", "low", number)
    if match := re.fullmatch(r"cost\.fpga\.(.+)\.(luts|fmax_mhz)", key):
        figure = Figure("LUTs", "", "low") if match[2] == "luts" else Figure("clock", "MHz", "high")
        return _column(key, figure, number, match[1])
    return Column(key, key.replace("_", " "), "", None, number)


def _measure(key: str, rest: str, number: bool) -> Column:
    """A workload's measure. The workload's name may hold dots itself, the measure's name is the end."""
    for measure, figure in MEASURES.items():
        if rest.endswith(f".{measure}"):
            return _column(key, figure, number, rest.removesuffix(f".{measure}").replace(f".{MODES}.", ", "))
    workload, found, instruction = rest.partition(".agreement.")
    if found:
        return Column(key, f"{workload}: agreement with {instruction}", "share", "high", number)
    return Column(key, rest.replace(".", ": ", 1).replace("_", " "), "", None, number)


def _column(key: str, figure: Figure, number: bool, of: str = "") -> Column:
    """The column of a figure; where it is one of several alike, of what."""
    return Column(key, f"{of}: {figure.label}" if of else figure.label, figure.unit, figure.better, number)
