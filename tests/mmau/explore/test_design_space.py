"""Points: golden's own loader makes each unit, and what is none says why."""

import tomllib
from typing import Any

import pytest

import golden
from golden.units.unit_file import unit_from_table
from mmau.explore.columns import value_of
from mmau.explore.design_space import arithmetic_of, broken_by_measures, of_cost, reference_of, unchecked
from mmau.explore.space_file import constraints_of
from tests.mmau.explore.texts import MEASURED, SMALL, space_of


def test_each_point_is_the_unit_of_its_file() -> None:
    points = list(space_of(SMALL + MEASURED).points())
    assert len({point.name for point in points}) == len({point.file_name for point in points}) == 12
    for point in points:
        assert point.unit is not None
        assert unit_from_table(tomllib.loads(point.toml)) == point.unit
        assert point.name == point.unit.name
    first = points[0].parameters
    assert (first["operation"], first["L"], first["F"], first["sticky"]) == ("T-FDPA", 2, 8, False)
    assert (first["a"], first["implementation.encoding"]) == ("e4m3", "ones-complement")


def test_point_that_is_no_unit_says_why() -> None:
    points = list(space_of(SMALL.replace("to = 10", "to = 129, step = 121") + MEASURED).points())
    assert [point.is_valid for point in points] == [True, True, False, False] * 2
    assert points[2].message == "F must be an integer from 1 to 128, got 129"
    assert points[2].toml == ""
    assert points[2].parameters["F"] == 129


def test_points_of_several_operations_and_flags() -> None:
    text = SMALL.replace('operation = "T-FDPA"\n', "").replace(
        "L = [2, 4]\nF = {from = 8, to = 10}", 'operation = ["T-FDPA", "E-FDPA"]\nL = [2]\nF = [24]\nsticky = [false, true]'
    )
    points = list(space_of(text + MEASURED).points())
    assert len(points) == 8
    assert points[2].name == "operation=T-FDPA L=2 F=24 sticky=true encoding=ones-complement"
    assert [point.is_valid for point in points] == [True] * 4 + [False] * 4
    assert points[4].message.startswith("E-FDPA key must be one of ")


def test_parameters_beyond_a_limit_are_no_points_of_the_space() -> None:
    space = space_of(SMALL + "[constraints]\nmax_F = 9\nmin_L = 4\nmax_stages = 0\n" + MEASURED)
    told = {point.name.rpartition(" ")[0]: point.message for point in space.points()}
    assert told == {
        "L=2 F=8": "L = 2 is below min_L = 4",
        "L=2 F=9": "L = 2 is below min_L = 4",
        "L=2 F=10": "F = 10 is above max_F = 9; L = 2 is below min_L = 4",
        "L=4 F=8": "",
        "L=4 F=9": "",
        "L=4 F=10": "F = 10 is above max_F = 9",
    }


def test_numbers_of_points_are_their_places() -> None:
    space = space_of(SMALL + MEASURED)
    points = list(space.points())
    assert [space.point(space.values(number)).name for number in range(space.size)] == [point.name for point in points]


def test_units_that_compute_the_same_have_one_arithmetic() -> None:
    points = list(space_of(SMALL + MEASURED).points())
    units = [point.unit for point in points if point.unit is not None]
    assert arithmetic_of(units[0]) == arithmetic_of(units[1])
    assert len({arithmetic_of(unit) for unit in units}) == 6


@pytest.mark.parametrize(
    "name",
    [
        "sm_90:wgmma.m64n8k32.f32.e4m3.e4m3", "sm_120:mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_80:mma.m16n8k16.f32.f16.f16.f32",
        "gfx1201:v_wmma_f32_16x16x16_bf16_w32", "armv9-sme:fmops.za.s.h", "armv9-sme:bfmops.za.h.h",
        "riscv-zvbdota:vfwbdota.vv.bf16.k8",
    ],
)  # fmt: skip
def test_reference_computes_what_the_instruction_does(name: str) -> None:
    import numpy as np

    instruction = golden.instruction(*name.split(":"))
    unit = reference_of(name).unit
    assert unit is not None
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(0, 1 << operand.width, (200, instruction.k)).astype(f"u{max(1, operand.storage_bits // 8)}")
        for operand in (instruction.a, instruction.b)
    )
    c = rng.integers(0, 1 << instruction.c.width, 200).astype(f"u{instruction.c.storage_bits // 8}")
    assert (unit.dot(a, b, c) == instruction.dot(a, b, c)).all()


def test_clock_is_swept_and_stands_only_where_it_is_given() -> None:
    clocks = "clock_ns = [3, 5.5]"
    points = list(space_of(SMALL.replace("[sweep.implementation]", f"[sweep.implementation]\n{clocks}") + MEASURED).points())
    assert {point.parameters["implementation.clock_ns"] for point in points} == {3, 5.5}
    assert all(point.is_valid for point in points)
    assert all("implementation.registers" not in point.parameters for point in points)
    without = next(iter(space_of(SMALL + MEASURED).points())).parameters
    assert not {"implementation.clock_ns", "implementation.registers"} & without.keys()
    with pytest.raises(ValueError, match=r"must hold integers, texts, true and false, got 2\.5$"):
        space_of(SMALL.replace("L = [2, 4]", "L = [2, 2.5]") + MEASURED)


FIGURES: dict[str, Any] = {
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
    assert value_of(name, FIGURES) == value


def test_measures_beyond_a_limit_are_reported() -> None:
    table = {"max_cells": 99, "min_accuracy.chain-64.snr_db": 90, "max_accuracy.normal.relative_error.max": 1, "max_F": 3}
    found = constraints_of(table, "T-FDPA", ["normal", "chain-64"])
    told = "cells = 100 is above max_cells = 99; accuracy.chain-64.snr_db = 80 is below min_accuracy.chain-64.snr_db = 90"
    assert broken_by_measures(found, FIGURES) == told
    assert [each.key for each in of_cost(found)] == ["max_cells"]
    assert broken_by_measures(constraints_of({"max_cells": 100}, "T-FDPA", []), FIGURES) == ""


def test_limit_on_a_figure_that_was_not_measured_is_reported_as_unchecked() -> None:
    found = constraints_of({"max_delay_ns": 5, "max_cells": 100}, "T-FDPA", [])
    assert broken_by_measures(found, FIGURES) == ""
    assert unchecked(found, FIGURES) == "not checked against max_delay_ns: no figure was measured"


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
