"""Figures."""

import numpy as np
import pytest

from analysis.plots import Series, histograms

RNG = np.random.default_rng(0)


@pytest.mark.slow
def test_figure_is_the_same_bytes_from_the_same_data() -> None:
    series = [Series("noise", RNG.standard_normal(1000)), Series("shifted", RNG.standard_normal(1000) + 1)]
    figure = histograms(series, 20, "x", "y")
    assert figure == histograms(series, 20, "x", "y")
    assert figure != histograms(series[::-1], 20, "x", "y")
    assert b"shifted" in figure
    with pytest.raises(ValueError, match=r"^a histogram needs at least one value of each distribution$"):
        histograms([Series("empty", np.zeros(0))], 20, "x", "y")
