"""Figure 3 of paper 000, and the statistic behind it."""

import numpy as np
import pytest

import golden
from studies.analysis.bias import INSTRUCTION, Tiles, deviations, drawn, histograms, statistic

RNG = np.random.default_rng(0)


def test_rounding_down_is_biased_and_toward_zero_is_not() -> None:
    i = golden.instruction(*INSTRUCTION)
    tiles = drawn(i, 12, 5)
    down, toward_zero = (statistic(deviations(i.operation.changed(truncation=mode), tiles)) for mode in ("RD", "RZ"))
    assert down.is_biased
    assert down.mean < 0
    assert down.below > 0.6
    assert not toward_zero.is_biased


def test_deviation_is_exact() -> None:
    """1 + 2^−30 rounded to 1: what fp64 sums would lose is kept."""
    tiles = Tiles(
        np.full((1, 1, 2), 2.0**-15, np.float16),
        np.array([[[2.0**-15, 2.0**-15]]], np.float16),
        np.ones((1, 1, 1), np.float32),
    )
    assert tiles.exact_minus(np.ones((1, 1, 1), np.float32)).item() == -(2.0**-29)


def test_interval_of_noise_holds_its_mean_and_that_of_a_shift_does_not() -> None:
    noise = RNG.standard_normal((400, 50))
    assert not statistic(noise).is_biased
    assert statistic(noise + 0.1).is_biased


def test_statistic_needs_two_tiles() -> None:
    with pytest.raises(ValueError, match=r"^tiles must be at least 2, got 1$"):
        statistic(np.zeros((1, 4)))


@pytest.mark.slow
def test_histogram_has_every_distribution_and_its_mean() -> None:
    series = {"noise": RNG.standard_normal(1000), "shifted": RNG.standard_normal(1000) + 1}
    figure = histograms(series, "x", "y")
    assert figure == histograms(series, "x", "y")
    assert figure != histograms(dict(reversed(series.items())), "x", "y")
    assert b"shifted" in figure
    with pytest.raises(ValueError, match=r"^a histogram needs at least one value of each distribution$"):
        histograms({"empty": np.zeros(0)}, "x", "y")
