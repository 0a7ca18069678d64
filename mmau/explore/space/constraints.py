"""Limits of a space: on parameters, which select the points to evaluate, and on measured columns, which select results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from golden.checks import unknown
from mmau.explore.space.column_names import COST, check_column, is_cost, value_of
from mmau.explore.space.keys import Value, known_keys
from mmau.explore.space.tables import number

LEAST, MOST = "min_", "max_"

STAGES = "stages"
"""The number among the keys of an implementation."""


@dataclass(frozen=True)
class Constraint:
    """One limit.

    Attributes:
        key: as the file has it, `max_cells`. column: what is limited. limit: the number.
        parameter: the flat key of a parameter; None of a measured column.
    """

    key: str
    column: str
    limit: float
    parameter: str | None

    def broken(self, value: float) -> str:
        """Why a value is beyond the limit; empty where it is not."""
        if (value < self.limit) if self.key.startswith(LEAST) else (value > self.limit):
            side = "below" if self.key.startswith(LEAST) else "above"
            return f"{self.column} = {value:g} is {side} {self.key} = {self.limit:g}"
        return ""


def constraints_of(table: Mapping[str, Any], operation: str | None, workloads: Sequence[str]) -> tuple[Constraint, ...]:
    """The limits of the table [constraints].

    Args:
        operation: that of all units, None where it is swept. workloads: those that are measured.

    Raises:
        ValueError: an unknown column, or no number.
    """
    numbers = [key for key in known_keys(operation) if key[0].isupper() or key == "e_zero"]
    found = []
    for key, value in table.items():
        where, column = f"[constraints] {key}", key[len(LEAST) :]
        if not key.startswith((LEAST, MOST)):
            known = [f"{side}{name}" for side in (MOST, LEAST) for name in (*numbers, STAGES, *COST)]
            raise ValueError(f"[constraints] {unknown('key', key, known, shown=len(known))}")
        limit = number(where, value)
        if column in numbers or column == STAGES:
            parameter = f"implementation.{STAGES}" if column == STAGES else column
            found.append(Constraint(key, column, limit, parameter))
            continue
        if not column.startswith(("cost.", "accuracy.")) and column not in COST:
            raise ValueError(f"{where}: {unknown('what is limited', column, [*numbers, STAGES, *COST], shown=64)}")
        check_column(f"{where}:", column, workloads)
        found.append(Constraint(key, column, limit, None))
    return tuple(found)


def broken_by_parameters(constraints: Sequence[Constraint], parameters: Mapping[str, Value]) -> str:
    """A message with the limits that the parameters of a point break; empty if there are none."""
    messages = []
    for constraint in constraints:
        value = None if constraint.parameter is None else parameters.get(constraint.parameter)
        if isinstance(value, int):
            messages.append(constraint.broken(value))
    return "; ".join(filter(None, messages))


def broken_by_measures(constraints: Sequence[Constraint], measured: Mapping[str, Any]) -> str:
    """The same of what was measured; a column that is not there breaks nothing (`unchecked`)."""
    messages = []
    for constraint in constraints:
        value = None if constraint.parameter is not None else value_of(constraint.column, measured)
        if value is not None:
            messages.append(constraint.broken(value))
    return "; ".join(filter(None, messages))


def unchecked(constraints: Sequence[Constraint], measured: Mapping[str, Any]) -> str:
    """A message with the limits that could not be checked for lack of a figure; empty if there are none."""
    missing = [each.key for each in constraints if each.parameter is None and value_of(each.column, measured) is None]
    return f"not checked against {', '.join(missing)}: no figure was measured" if missing else ""


def of_cost(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Those that costs decide alone."""
    return tuple(each for each in constraints if each.parameter is None and is_cost(each.column))
