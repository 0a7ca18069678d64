"""The table's columns: label, unit, and which of two values is the better one."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from mmau.explore.report.flat_records import Cell, Record, flattened

Better = Literal["low", "high", "zero"] | None
"""The better value: the lower, the higher, the one nearer to zero; None where a column is no figure of merit."""

COSTS: Mapping[str, tuple[str, str, Better]] = {
    "cost.cells": ("cells", "", "low"),
    "cost.depth": ("depth", "cells", "low"),
    "cost.transistors": ("transistors", "", "low"),
    "cost.registers": ("registers", "", "low"),
    "cost.netlist_vectors": ("vectors through the mapped netlist", "", None),
    "cost.area_um2": ("area", "µm²", "low"),
    "cost.delay_ns": ("delay", "ns", "low"),
    "cost.power_mw": ("power", "mW", "low"),
    "cost.energy_pj": ("energy an operation", "pJ", "low"),
    "cost.stages_for_clock": ("stages for the clock", "", "low"),
    "cost.products": ("products of a step", "", None),
    "cost.cells_per_product": ("cells per product", "", "low"),
    "cost.area_um2_per_product": ("area per product", "µm²", "low"),
    "cost.energy_pj_per_product": ("energy per product", "pJ", "low"),
}
"""Label, unit, better value."""

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

VERIFICATION: Mapping[str, str] = {
    "cosimulation.vectors": "vectors wanted in co-simulation",
    "cosimulation.sent": "vectors sent",
    "cosimulation.received": "results compared",
    "cosimulation.mismatches": "mismatches",
    "cosimulation.seed": "seed of the vectors",
    "cosimulation.checked_by_reference": "results checked by the reference engine",
    "cosimulation.first_mismatch": "first mismatch",
    "proof.proved": "proved for every input",
    "proof.reason": "why it is not proved",
    "proof.obligations": "obligations of its proof",
}
"""Label of a column of co-simulation or proof."""

ORDER = ("parameters", "cost", "accuracy", "cosimulation", "proof", "seconds")
"""The tables of a record, in the order of the columns."""


STATED_ONCE = ("cost.missing.", "cost.tools.", "cost.wanted.")
"""The columns that the page states once for all points."""


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
        """Label and unit."""
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


def is_number(value: Cell) -> bool:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def described(key: str, number: bool) -> Column:
    """The column of a flat name."""
    if key in COSTS:
        return Column(key, *COSTS[key], number)
    if key in VERIFICATION:
        return Column(key, VERIFICATION[key], "", None, number)
    top, _, rest = key.partition(".")
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
        figure: tuple[str, str, Better] = ("LUTs", "", "low") if match[2] == "luts" else ("clock", "MHz", "high")
        return Column(key, f"{match[1]}: {figure[0]}", figure[1], figure[2], number)
    return Column(key, key.replace("_", " "), "", None, number)


def _measure(key: str, rest: str, number: bool) -> Column:
    """A workload's measure. The workload's name may hold dots itself, the measure's name is the end."""
    for measure, (label, unit, better) in MEASURES.items():
        if rest.endswith(f".{measure}"):
            return Column(key, f"{rest.removesuffix(f'.{measure}')}: {label}", unit, better, number)
    workload, found, instruction = rest.partition(".agreement.")
    if found:
        return Column(key, f"{workload}: agreement with {instruction}", "share", "high", number)
    return Column(key, rest.replace(".", ": ", 1).replace("_", " "), "", None, number)
