"""Estimates against synthesis: a part of examples/spaces/estimated.toml, all of whose 54 areas Yosys has found."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmau.explore.design_space import Estimation, Point
from mmau.explore.estimation import Estimates, estimate, nondominated
from rtl.cost.liberty import library
from rtl.cost.synthesis import TOP, synthesise
from rtl.verilog.emit import to_verilog
from tests.mmau.explore.texts import space_of
from tests.rtl.cost.needs import needs_library, needs_yosys

RECORDED = json.loads((Path(__file__).parent / "e4m3_areas.json").read_text())
"""L, F, encoding, multiplier of T-FDPA of e4m3 into fp32, and areas in osu018 (µm²): of the whole, and of each component."""

AREAS = {
    tuple(keys): (whole, dict(zip(RECORDED["components"], parts, strict=True))) for *keys, whole, parts in RECORDED["units"]
}

COST = "area_um2_per_product"

SPACE = """
name = "part"
[fixed]
operation = "T-FDPA"
a = "e4m3"
b = "e4m3"
c = "fp32"
rho = "RZ-FP32"
e_zero = -133
[sweep]
L = [2, 4]
F = [9, 17, 25]
[sweep.implementation]
encoding = ["ones-complement", "twos-complement", "sign-magnitude"]
multiplier = ["array", "carry-save", "booth"]
[accuracy]
workloads = ["normal"]
[strategy]
kind = "estimate"
objectives = {area_um2_per_product = "min", "accuracy.normal.snr_db" = "max"}
points = 54
"""


def keys_of(point: Point) -> tuple[Any, ...]:
    implementation = (point.parameters[f"implementation.{key}"] for key in ("encoding", "multiplier"))
    return (point.parameters["L"], point.parameters["F"], *implementation)


def accuracy_of(point: Point) -> dict[str, Any]:
    """Signal to noise (dB) as measured on 20,000 rows of `normal`: F decides, and L a little."""
    L, F, *_ = keys_of(point)
    measured = {(2, 9): 62.7, (2, 17): 112.0, (2, 25): 148.8, (4, 9): 62.4, (4, 17): 112.7, (4, 25): 148.1}
    return {"normal": {"arithmetic_snr_db": measured[L, F]}}


def record_of(point: Point) -> dict[str, Any]:
    whole, components = AREAS[keys_of(point)]
    cost = {"area_um2": whole, COST: whole / keys_of(point)[0], "area_by_component": components}
    return {"name": point.name, "kind": "point", "status": "done", "cost": cost, "accuracy": accuracy_of(point)}


def estimated(
    sample: int, seed: int, record: Callable[[Point], dict[str, Any]] = record_of
) -> tuple[Estimates, list[Point]]:
    space = space_of(f"{SPACE}sample = {sample}\nseed = {seed}\n")
    assert isinstance(space.strategy, Estimation)

    def evaluate(points: Sequence[Point]) -> list[dict[str, Any]]:
        return [record(point) for point in points]

    found = estimate(space, space.strategy, evaluate, lambda points, _: [*map(accuracy_of, points)], lambda line: None)
    return found, list(space.points())


def errors(found: Estimates, points: Sequence[Point]) -> list[float]:
    """How far the areas are off that were not measured."""
    truth = {point.name: record_of(point)["cost"][COST] for point in points}
    told = zip(found.names, found.columns[COST].tolist(), found.measured.tolist(), strict=True)
    return [abs(value / truth[name] - 1) for name, value, is_measured in told if not is_measured]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_front_by_estimates_is_that_by_synthesis(seed: int) -> None:
    found, points = estimated(18, seed)
    table = np.array([[record_of(p)["cost"][COST], -accuracy_of(p)["normal"]["arithmetic_snr_db"]] for p in points])
    true = {points[number].name for number in nondominated(table)}
    assert (len(true), found.open) == (5, 0)
    assert true <= {name for name, measured in zip(found.names, found.measured.tolist(), strict=True) if measured}
    assert found.measured.sum() < 30
    off = errors(found, points)
    assert float(np.median(off)) < 0.02
    assert max(off) < 0.06
    assert 0.4 < found.left_out[COST].median / np.median(off) < 2.5


@pytest.mark.slow
def test_a_few_points_are_enough_for_all_keys() -> None:
    """Fourteen: a constant, one term of L, two of F, and two of each key with three values."""
    assert np.median(errors(*estimated(14, 0))) < 0.03


@pytest.mark.attack("areas of a unit that are those of another, in the estimates of a design space")
def test_areas_of_other_units_show_in_the_stated_error() -> None:
    """As if Yosys had measured the unit with the next number of fraction bits."""

    def exchanged(point: Point) -> dict[str, Any]:
        L, F, *built = keys_of(point)
        record = record_of(point)
        if built[1] == "booth":
            whole, components = AREAS[L, {9: 17, 17: 25, 25: 9}[F], *built]
            record["cost"] |= {COST: whole / L, "area_by_component": components}
        return record

    found, _ = estimated(18, 0, exchanged)
    assert found.left_out[COST].median > 0.05


@pytest.mark.long
@needs_yosys
@needs_library
def test_recorded_areas_are_those_of_synthesis() -> None:
    point = next(point for point in space_of(SPACE).points() if keys_of(point) == (2, 9, "twos-complement", "booth"))
    assert point.unit is not None
    found = synthesise(to_verilog(point.unit, TOP), library("osu018"))
    whole, components = AREAS[keys_of(point)]
    assert found.mapped is not None
    assert (found.mapped.area, found.components) == (whole, components)
