"""The measures of a unit in several modes, from those of each mode: what a unit promises is what its worst mode keeps."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any

from golden import Unit
from golden.checks import listed
from golden.operations import Operation
from golden.units.controls import OPERANDS, Control

MODES = "modes"
"""The table of a unit's measures with those of each mode."""

COUNTS = ("rows", "finite_rows", "exact_rows", "special_mismatch", "unbounded", "violations", "of")
"""Measures that are summed over modes, beside the bins of histograms."""

LEAST = ("snr_db", "agreement", "accuracy")
"""How the names of measures, or of the tables that hold them, end whose worst value is the least; of others it is the
largest."""

WHOLE = {"bias": "mean_ulp", "magnitude_bias": "mean_ulp", "worst": "share"}
"""Tables that are those of one mode, in which this measure has the largest magnitude."""


def mode_name(codes: Mapping[str, int]) -> str:
    """The name of a mode: each control's port with its code. A dot would separate the names of tables."""
    return ",".join(f"{port.replace('.', '_')}={code}" for port, code in codes.items())


def mode_names(controls: Sequence[Control]) -> list[str]:
    """The names of all modes that controls choose."""
    ports = [control.port for control in controls if control.key not in OPERANDS]
    codes = product(*(control.codes for control in controls if control.key not in OPERANDS))
    return [mode_name(dict(zip(ports, each, strict=True))) for each in codes]


def modes_of(unit: Unit) -> dict[str, Unit]:
    """The unit of each mode, by name.

    Raises:
        ValueError: the unit has controls that are operands.
    """
    operands = [f"{control.port} ({control.key})" for control in unit.controls if control.key in OPERANDS]
    if operands:
        raise ValueError(
            f"{unit.name}: accuracy goes with [controls] that choose the arithmetic, and not with operands; got "
            f"{listed(operands)}: leave them out of [controls]"
        )
    return {mode_name(choice.codes): choice.unit for choice in unit.choices}


def in_modes(unit: Unit, measured: Callable[[Unit], dict[str, Any]]) -> dict[str, Any]:
    """The measures of a unit over all its modes, and under `modes` those of each; equal arithmetics are measured once."""
    known, found = dict[Operation, dict[str, Any]](), dict[str, dict[str, Any]]()
    for name, mode in modes_of(unit).items():
        if mode.operation not in known:
            known[mode.operation] = measured(mode)
        found[name] = known[mode.operation]
    return {**worst_of([*known.values()]), MODES: found}


def worst_of(tables: Sequence[Mapping[str, Any]], within: str = "") -> dict[str, Any]:
    """The worst of each measure over several modes: counts are summed. Null where a mode has none; a signal-to-noise ratio
    that is null because a mode has no error is above all others.

    Args:
        within: the name of the table that holds these.
    """
    return {key: _worst(key, tables, within) for key in tables[0]}


def _worst(key: str, tables: Sequence[Mapping[str, Any]], within: str) -> Any:
    values = [table[key] for table in tables]
    if key == "histogram":
        bins = Counter[float]()
        for edge, count in (each for value in values for each in value):
            bins[edge] += count
        return [[edge, count] for edge, count in bins.items()]
    if within == "agreement":  # a mode in other formats than the reference has none
        return min((value for value in values if value is not None), default=None)
    if key.endswith("snr_db"):
        values = [
            value for value, table in zip(values, tables, strict=True) if value is not None or not _is_exact(key, table)
        ]
        return None if not values or None in values else min(values)
    if key not in COUNTS and all(value == values[0] for value in values):
        return values[0]
    if None in values:
        return None
    if key in WHOLE:
        return max(values, key=lambda table: inf if table[WHOLE[key]] is None else abs(table[WHOLE[key]]))
    if isinstance(values[0], Mapping):
        return worst_of(values, key)
    if key in COUNTS:
        return sum(values)
    return min(values) if key.endswith(LEAST) else max(values)


def _is_exact(key: str, table: Mapping[str, Any]) -> bool:
    """Whether no row had an error, of those that a signal-to-noise ratio is about."""
    errors = table.get(key.removesuffix("_snr_db"), table).get("relative_error", {})
    return bool(table["finite_rows"]) and errors.get("max") == 0 and not errors.get("unbounded")
