"""The spaces that are timed are those that the bars are about."""

import pytest

from studies.explore_speed.timed_spaces import FIRST, FRACTION_BITS, MINUTES, POINTS, SECOND, timed_space


@pytest.mark.parametrize("length", MINUTES)
def test_space_has_two_hundred_points_and_its_samples_are_among_them(length: int) -> None:
    space = timed_space(length)
    points = {point.name: point for point in space.points()}
    assert (space.size, len(points)) == (POINTS, 200)
    assert all(point.is_valid for point in points.values())
    assert max(int(point.parameters["L"]) for point in points.values()) == length
    for sample in (FIRST, SECOND):
        assert {point.name for point in timed_space(length, sample).points()} < set(points)
    assert set(FIRST).isdisjoint(SECOND)
    assert sum(FIRST) / len(FIRST) == sum(SECOND) / len(SECOND) == sum(FRACTION_BITS) / len(FRACTION_BITS)
    assert space.accuracy is not None
    assert space.cosimulation is not None
    assert (space.accuracy.rows, space.cosimulation.vectors) == (1_000_000, 100_000)
