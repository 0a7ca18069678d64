"""The time of 200 points follows from the samples, each at its rate; a missed bar is reported."""

from pathlib import Path

import pytest

from mmau.explore.design_space import Space
from mmau.explore.explore import Exploration
from studies.explore_speed import timings
from studies.explore_speed.timed_spaces import timed_space
from studies.explore_speed.timings import Result, Timed, sampled, time_of


def test_rest_is_counted_at_the_rate_of_the_second_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {8: Timed(8, 100.0, 150.0), 16: Timed(16, 160.0, 300.0)}
    monkeypatch.setattr(timings, "time_of", lambda space, folder, workers: times[space.size])
    result = sampled(8, 2)
    assert result.minutes == pytest.approx((100 + 192 * 10) / 60)
    assert result.missed
    assert result.lines[-1] == (
        "  200 points: 33.7 min (from these, 192 points at the second rate); the bar, 30 min on 2 cores, is missed"
    )
    assert result.lines[1] == "  8 points: 100 s, 12.5 s and 18.8 processor seconds a point"
    assert not Result(16, 74.9, "measured", ()).missed


@pytest.mark.parametrize(("status", "mismatches"), [("failed", 0), ("done", 1)])
def test_points_that_are_not_done_or_differ_are_no_measurement(
    status: str, mismatches: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counts = {"vectors": 9, "sent": 9, "received": 9, "mismatches": mismatches}

    def explore(space: Space, *given: object) -> Exploration:
        return Exploration(
            [{"name": point.name, "status": status, "cosimulation": counts, "proof": None} for point in space.points()]
        )

    monkeypatch.setattr(timings, "explore", explore)
    with pytest.raises(ValueError, match=r"^every point must be done and agree, and 8 of 8 are not: \['L=4 F=20 "):
        time_of(timed_space(8, (20,)), tmp_path, 2)
