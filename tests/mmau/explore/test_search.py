"""Searches: what they ask follows from the seed and the results; a front is found with a part of the points."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mmau.explore.design_space import Point, Search, Space
from mmau.explore.explore import objectives, searched
from tests.mmau.explore import works
from tests.mmau.explore.test_explore import explored, notes
from tests.mmau.explore.texts import MEASURED, SMALL, space_of

pytest.importorskip("optuna")

__all__ = ["notes"]

LARGE = (SMALL + MEASURED).replace("L = [2, 4]", "L = {from = 2, to = 33}").replace("to = 10", "to = 39")
"""2,048 points."""


def search(points: int, seed: int = 0) -> str:
    objectives = '{area_um2 = "min", "accuracy.normal.snr_db" = "max"}'
    return f'[strategy]\nkind = "search"\nobjectives = {objectives}\npoints = {points}\npopulation = 8\nseed = {seed}\n'


def asked(text: str) -> list[dict[str, Any]]:
    """The records that a search asks for, of points that take no time."""
    space: Space = space_of(text)
    found: list[dict[str, Any]] = []
    assert isinstance(space.strategy, Search)

    def evaluate(points: Sequence[Point]) -> list[dict[str, Any]]:
        records = [record(point) for point in points]
        found.extend(records)
        return records

    searched(space, space.strategy, evaluate)
    return found


def record(point: Point) -> dict[str, Any]:
    """Figures that are opposed along F alone: the best points have the least L."""
    L, F = (int(point.parameters[key]) for key in ("L", "F"))
    figures = {"accuracy": {"normal": {"arithmetic_snr_db": 6.0 * F}}, "cost": {"area_um2": 7.0 * L * F}}
    return {"name": point.name, "status": "done", "L": L, "cosimulation": None, "proof": None, **figures}


@pytest.mark.slow
def test_search_finds_the_front_with_a_part_of_the_points() -> None:
    """Of 2,048 points 64 are on the front; 6 of 200 would be by chance."""
    assert sum(each["L"] == 2 for each in asked(LARGE + search(200))) > 30


@pytest.mark.slow
def test_search_follows_from_its_seed_and_is_continued() -> None:
    names = [each["name"] for each in asked(LARGE + search(60))]
    assert len(names) == len({*names}) == 60
    assert [each["name"] for each in asked(LARGE + search(60))] == names
    assert [each["name"] for each in asked(LARGE + search(80))][:60] == names
    assert [each["name"] for each in asked(LARGE + search(60, seed=1))] != names


@pytest.mark.slow
def test_search_that_is_run_again_costs_nothing(notes: Path, tmp_path: Path) -> None:
    found, told = explored(tmp_path / "out", LARGE + search(10))
    assert "2,048 points (L 32 × F 32 × encoding 2): a search evaluates at most 10; " in told[0]
    notes.write_text("")
    again, _ = explored(tmp_path / "out", LARGE + search(10))
    assert (again.records, notes.read_text()) == (found.records, "")


@pytest.mark.slow
def test_search_of_a_small_space_ends_with_all_of_it(notes: Path, tmp_path: Path) -> None:
    found, _ = explored(tmp_path / "out", SMALL + MEASURED + search(100))
    assert found.count("done") == 12


def test_invalid_points_are_records_of_a_search_too(notes: Path, tmp_path: Path) -> None:
    found, _ = explored(tmp_path / "out", SMALL + "[constraints]\nmax_F = 9\n" + MEASURED + search(100))
    assert (found.count("done"), found.count("invalid")) == (8, 4)


def test_objective_without_a_figure_ends_the_search(notes: Path, tmp_path: Path) -> None:
    text = r"^a search needs its objectives, and no point has area_um2, as L=\d F=\d+ .*: area_um2: there is no library$"
    with pytest.raises(ValueError, match=text):
        explored(tmp_path / "out", SMALL + MEASURED + search(4), works.no_area)


def test_point_without_a_figure_is_passed_over(notes: Path, tmp_path: Path) -> None:
    found, _ = explored(tmp_path / "out", SMALL + MEASURED + search(100), works.diverging)
    assert found.count("done") == 12


def test_circuit_that_differs_or_is_beyond_a_limit_is_no_candidate() -> None:
    space = space_of(SMALL + MEASURED + search(4))
    assert isinstance(space.strategy, Search)
    first = record(next(iter(space.points())))
    counts = {"vectors": 9, "sent": 9, "received": 9, "mismatches": 0}
    assert objectives(space.strategy, first) == [112.0, 48.0]
    assert objectives(space.strategy, first | {"cosimulation": counts}) == [112.0, 48.0]
    assert objectives(space.strategy, first | {"cosimulation": counts | {"mismatches": 1}}) is None
    assert objectives(space.strategy, first | {"cosimulation": counts | {"received": 8}}) is None
    assert objectives(space.strategy, first | {"beyond": "L = 2 is below min_L = 3"}) is None
    assert objectives(space.strategy, first | {"late": "delay_ns = 2 is above clock_ns = 1"}) is None
