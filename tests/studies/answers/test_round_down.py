"""The page on rounding down: its tables and sentences say what the records hold."""

import pytest

from studies.answers import round_down
from studies.answers.signed_shift import ShiftCost
from tests.studies.answers import sample

SHIFTS = [ShiftCost("down", 1000.0, 1.0), ShiftCost("toward zero", 3000.0, 1.5), ShiftCost("by magnitude", 4000.0, 5.0)]


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(round_down, "costs", lambda library, clock_ns, activity: SHIFTS)
    page = round_down.page(sample.round_down())
    assert sorted(page) == ["round-down-area.svg", "round-down-bias.svg", "round-down.csv", "round-down.md"]
    return page["round-down.md"].decode()


def test_bias_is_stated_with_its_interval(text: str) -> None:
    assert "| normal | RD | -0.05 | -0.06 … -0.04 | +0.05 | +0.04 … +0.06 | 1.1 |" in text
    assert "| chain-256 | RZ | +0 | -0.01 … +0.01 | -0 | -0.01 … +0.01 | 1 |" in text
    assert "- The interval of the bias leaves zero out with RD on 2 of 2 workloads (furthest -0.05 ulp) and" in text
    assert "(furthest -0.05 ulp) and with RZ on 0 of 2 workloads." in text
    assert "- The mean error with RD is 1.1000 to 1.1000 times that with RZ." in text


@pytest.mark.slow
def test_answer_comes_first(text: str) -> None:
    assert "**In short.** The bias that RD brings: up to 0.05 ulp of the row's magnitude, downwards." in text
    assert (
        "too small: none that is seen. Area saved by RD: none in the project's units, where it takes 10.0% to 10.0%" in text
    )
    assert "two's complement, 2.0% of a unit for the shift of T." in text


@pytest.mark.slow
def test_area_is_compared(text: str) -> None:
    assert "ones-complement +10.0 % area and +10.0 % delay; twos-complement +10.0 % area" in text
    assert "saves 2,000 µm² of the shift of T against the cheaper way to RZ, 2.0% of the area of the unit" in text
    assert "Without results" not in text
