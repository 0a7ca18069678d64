"""Limits on what was measured, and the columns that they name."""

from typing import Any

import pytest

from mmau.explore.space.column_names import value_of
from mmau.explore.space.constraints import broken_by_measures, constraints_of, of_cost, unchecked

MEASURED: dict[str, Any] = {
    "accuracy": {"normal": {"relative_error": {"max": 0.5}}, "chain-64": {"snr_db": 80.0}},
    "cost": {"cells": 100, "delay_ns": None},
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cells", 100),
        ("cost.cells", 100),
        ("delay_ns", None),
        ("area_um2", None),
        ("accuracy.normal.relative_error.max", 0.5),
        ("accuracy.chain-64.snr_db", 80.0),
        ("accuracy.normal.snr_db", None),
        ("accuracy.uniform.snr_db", None),
    ],
)
def test_columns_have_their_values(name: str, value: float | None) -> None:
    assert value_of(name, MEASURED) == value


def test_nothing_measured_has_no_value() -> None:
    assert value_of("cells", {"cost": None, "accuracy": None}) is None
    assert value_of("accuracy.normal.snr_db", {}) is None


def test_measures_beyond_a_limit_are_reported() -> None:
    table = {"max_cells": 99, "min_accuracy.chain-64.snr_db": 90, "max_accuracy.normal.relative_error.max": 1, "max_F": 3}
    found = constraints_of(table, "T-FDPA", ["normal", "chain-64"])
    told = "cells = 100 is above max_cells = 99; accuracy.chain-64.snr_db = 80 is below min_accuracy.chain-64.snr_db = 90"
    assert broken_by_measures(found, MEASURED) == told
    assert [each.key for each in of_cost(found)] == ["max_cells"]
    assert broken_by_measures(constraints_of({"max_cells": 100}, "T-FDPA", []), MEASURED) == ""


def test_limit_on_a_figure_that_was_not_measured_is_reported_as_unchecked() -> None:
    found = constraints_of({"max_delay_ns": 5, "max_cells": 100}, "T-FDPA", [])
    assert broken_by_measures(found, MEASURED) == ""
    assert unchecked(found, MEASURED) == "not checked against max_delay_ns: no figure was measured"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"cells": 3},
            r"\[constraints\] key must be one of max_L, .*; got 'cells' \(did you mean 'min_cells' or 'max_cells'",
        ),
        (
            {"max_cell": 3},
            r"\[constraints\] max_cell: what is limited must be one of L, .*got 'cell' \(did you mean 'cells'",
        ),
        ({"max_cells": "3"}, r"\[constraints\] max_cells must be a number, got '3'"),
        ({"max_cells": float("nan")}, r"\[constraints\] max_cells must be a number, got nan"),
        ({"max_accuracy.uniform.snr_db": 3}, r"\[constraints\] max_accuracy\.uniform\.snr_db: column 'accuracy\.uniform"),
    ],
)
def test_bad_limit_is_one_message(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        constraints_of(table, "T-FDPA", ["normal"])


def test_results_without_an_error_have_infinitely_much_signal() -> None:
    """So that a limit holds them to be good, and a search takes them."""
    exact = {"accuracy": {"normal": {"finite_rows": 5, "exact_rows": 5, "snr_db": None}}}
    assert value_of("accuracy.normal.snr_db", exact) == float("inf")
    assert broken_by_measures(constraints_of({"min_accuracy.normal.snr_db": 90}, "T-FDPA", ["normal"]), exact) == ""
    exact["accuracy"]["normal"]["exact_rows"] = 4
    assert value_of("accuracy.normal.snr_db", exact) is None
    none = {"accuracy": {"normal": {"finite_rows": 0, "exact_rows": 0, "snr_db": None}}}
    assert value_of("accuracy.normal.snr_db", none) is None
