"""The table's columns: label, unit, and which of two values is the better one."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mmau.explore.report.flat_records import Cell, Record, flattened
from mmau.explore.space import column_names
from mmau.explore.space.column_names import MEASURES, Better

COSTS: Mapping[str, tuple[str, str, Better]] = {f"cost.{name}": figure for name, figure in column_names.COSTS.items()}
"""Label, unit, better value."""

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
