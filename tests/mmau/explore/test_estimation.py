"""Estimated costs: exact where the truth is of the model's kind, with an error that says how far they are off where it is
not; the front that is measured is the true one."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmau.explore.cost_model import CostModel, Terms
from mmau.explore.design_space import Axis, Estimation, Point
from mmau.explore.estimation import Estimates, estimate, nondominated, sampled, units_of
from tests.mmau.explore import works
from tests.mmau.explore.test_explore import explored, notes
from tests.mmau.explore.texts import MEASURED, SMALL, space_of

__all__ = ["notes"]

LARGE = (SMALL + MEASURED).replace("L = [2, 4]", "L = {from = 2, to = 9}").replace("to = 10", "to = 23")
"""256 points."""

AXES = (Axis("L", tuple(range(2, 18))), Axis("F", tuple(range(8, 24))), Axis("encoding", ("one", "two", "three")))
POINTS = list(product(*(axis.values for axis in AXES)))


def strategy(points: int, sample: int = 24, seed: int = 0) -> str:
    objectives = '{area_um2 = "min", "accuracy.normal.snr_db" = "max"}'
    return f'[strategy]\nkind = "estimate"\nobjectives = {objectives}\npoints = {points}\nsample = {sample}\nseed = {seed}\n'


def areas(L: int, F: int, encoding: str) -> dict[str, float]:
    """Components as they grow in a datapath, of which the sum is no power; one of them is in some points only."""
    level = {"one": 1.0, "two": 1.3, "three": 1.6}.get(encoding, 1.1)
    found = {"multiply": 40.0 * L, "align": 3.0 * L * F * level, "round": 25.0 * F**0.5}
    return found | ({"increment": 11.0} if encoding == "two" else {})


def records(truth: Callable[[int], float], numbers: Sequence[int], parts: bool = True) -> dict[int, dict[str, Any]]:
    """Records of points with an area."""
    found = {}
    for number in numbers:
        L, F, encoding = POINTS[number]
        by_component = areas(int(str(L)), int(str(F)), str(encoding)) if parts else {}
        found[number] = {"cost": {"area_um2": truth(number), "area_by_component": by_component}}
    return found


def of_components(number: int) -> float:
    L, F, encoding = POINTS[number]
    return 0.93 * sum(areas(int(str(L)), int(str(F)), str(encoding)).values())


def noise(number: int) -> float:
    """An area that nothing explains."""
    return float(np.exp(np.random.default_rng(number).normal(0, 0.2)))


MEASURED_POINTS = np.random.default_rng(1).permutation(len(POINTS))[:48].tolist()


def off(model: CostModel, truth: Callable[[int], float]) -> list[float]:
    """How far the estimates of points are off that were not measured."""
    others = sorted({*range(len(POINTS))} - {*MEASURED_POINTS})
    return [abs(model.estimates["area_um2"][number] / truth(number) - 1) for number in others]


def test_a_sum_of_powers_is_estimated_almost_exactly() -> None:
    """The sum of its components is; the sum as one power is not."""
    terms = Terms(AXES, POINTS)
    model = CostModel(terms, records(of_components, MEASURED_POINTS), ["area_um2"])
    assert max(off(model, of_components)) < 0.02
    assert model.errors["area_um2"].largest < 0.02
    as_one = CostModel(terms, records(of_components, MEASURED_POINTS, parts=False), ["area_um2"])
    assert max(off(as_one, of_components)) > 2 * max(off(model, of_components))


def test_stated_error_is_that_of_points_that_were_not_measured() -> None:
    """Of noise, too, where a fit to all the measured points looks better than it is."""
    model = CostModel(Terms(AXES, POINTS), records(noise, MEASURED_POINTS, parts=False), ["area_um2"])
    stated, true = model.errors["area_um2"], off(model, noise)
    assert 0.7 < stated.median / float(np.median(true)) < 1.4
    assert (stated.points, stated.largest > 0.3) == (48, True)


@pytest.mark.parametrize("columns", [2, 3])
def test_front_is_that_of_all_pairs(columns: int) -> None:
    table = np.random.default_rng(columns).integers(0, 6, (60, columns)).astype(np.float64)
    rows = {tuple(row) for row in table.tolist()}
    expected = {row for row in rows if not any(all(p <= q for p, q in zip(one, row, strict=True)) for one in rows - {row})}
    found = [tuple(row) for row in table[nondominated(table)].tolist()]
    assert (len(found), {*found}) == (len(expected), expected)


def test_sample_has_every_value_about_equally_often() -> None:
    space = space_of(LARGE + strategy(40, sample=32))
    assert isinstance(space.strategy, Estimation)
    values, _ = units_of(space)
    chosen = [values[number] for number in sampled(space, space.strategy, values)]
    assert len({*chosen}) == 32
    for place, axis in enumerate(space.axes):
        times = [sum(each[place] == value for each in chosen) for value in axis.values]
        assert max(times) - min(times) <= 2 + (len({*chosen}) < 32)


def of_space(text: str, area: Callable[[Mapping[str, Any]], float]) -> tuple[Estimates, dict[str, dict[str, Any]]]:
    """What a strategy finds where points take no time, and the records of those that it measured."""
    space, measured = space_of(text), dict[str, dict[str, Any]]()
    assert isinstance(space.strategy, Estimation)

    def snr(point: Point) -> dict[str, Any]:
        return {"normal": {"arithmetic_snr_db": 6.0 * min(17, int(point.parameters["F"]))}}

    def evaluate(points: Sequence[Point]) -> list[dict[str, Any]]:
        for point in points:
            assert point.name not in measured
            keys = point.parameters
            by_component = areas(int(keys["L"]), int(keys["F"]), str(keys["implementation.encoding"]))
            cost = {"area_um2": area(keys), "area_by_component": by_component}
            named = {"name": point.name, "kind": "point", "status": "done"}
            measured[point.name] = {**named, "cost": cost, "accuracy": snr(point)}
        return [measured[point.name] for point in points]

    found = estimate(space, space.strategy, evaluate, lambda points, _: [snr(point) for point in points], lambda line: None)
    return found, measured


def true_area(keys: Mapping[str, Any]) -> float:
    return 0.93 * sum(areas(int(keys["L"]), int(keys["F"]), str(keys["implementation.encoding"])).values())


def test_front_is_measured_and_is_the_true_one() -> None:
    """Ten of 256 points are on it: the smallest unit for each F up to 17, from where no more is gained."""
    found, measured = of_space(LARGE + strategy(60), true_area)
    front = {f"L=2 F={F} ones-complement" for F in range(8, 18)}
    assert front <= {*measured}
    assert {name for name, done in zip(found.names, found.measured.tolist(), strict=True) if done} == {*measured}
    assert (len(measured) < 60, found.open) == (True, 0)
    assert found.of_front["area_um2"].largest < 0.05
    assert found.sentences()[0].endswith("by these estimates no other point is on it.")
    out, thought = found.left_out["area_um2"], found.of_front["area_um2"]
    assert found.sentences()[1:] == [
        f"Estimates of the area are off by {out} that the fit left out; by {thought} that were thought to be on the front."
    ]


def test_front_of_a_model_that_errs_is_measured_until_nothing_is_new() -> None:
    """A jump that no term has: points that seem better than they are leave the front when they are measured."""

    def jumps(keys: Mapping[str, Any]) -> float:
        return true_area(keys) * (1.5 if int(keys["F"]) % 2 else 1.0)

    found, measured = of_space(LARGE + strategy(200), jumps)
    assert {f"L=2 F={F} ones-complement" for F in range(8, 18, 2)} <= {*measured}
    assert found.of_front["area_um2"].largest > 0.05


def test_points_end_the_strategy_and_their_number_is_kept() -> None:
    found, measured = of_space(LARGE + strategy(26), true_area)
    assert len(measured) == 26
    assert found.open > 0  # how many depends on the last digits of a fit
    assert f"from 26 that were measured. All points of the front were measured; {found.open} more" in found.sentences()[0]


def test_limits_count_for_estimates_too() -> None:
    text = LARGE + '[constraints]\n"min_accuracy.normal.snr_db" = 78\nmax_area_um2 = 400\n' + strategy(60)
    found, measured = of_space(text, true_area)
    later = [*measured][24:]
    assert later
    assert all(measured[name]["accuracy"]["normal"]["arithmetic_snr_db"] >= 78 for name in later)
    assert [*found.columns] == ["accuracy.normal.arithmetic_snr_db", "area_um2"]


@pytest.mark.slow
def test_files_say_what_was_estimated_and_a_second_run_costs_nothing(notes: Path, tmp_path: Path) -> None:
    text = SMALL + MEASURED + strategy(10, sample=6)
    found, told = explored(tmp_path / "out", text)
    assert "12 points (L 2 × F 3 × encoding 2): costs are estimated from those of at most 10; " in told[0]
    assert found.estimates is not None
    lines = (tmp_path / "out" / "estimates.csv").read_text().splitlines()
    assert lines[0] == "name,measured,accuracy.normal.arithmetic_snr_db,area_um2"
    assert (len(lines), sum(",true," in line for line in lines)) == (13, found.count("done"))
    assert found.estimates.sentences()[0].startswith("Costs of 12 points were estimated")
    assert notes.read_text().count("accuracy normal") == 6  # of each L and F once, whatever the encoding
    notes.write_text("")
    again, _ = explored(tmp_path / "out", text)
    assert (again.records, notes.read_text()) == (found.records, "")
    explored(tmp_path / "out", SMALL + MEASURED)
    assert not (tmp_path / "out" / "estimates.csv").exists()


def test_cost_that_no_point_has_is_one_message(notes: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^the model of costs needs area_um2 of some point, and no point that was "):
        explored(tmp_path / "out", SMALL + MEASURED + strategy(10, sample=6), works.no_area)
