"""Figures as SVG, by matplotlib (extra `plots`): the same bytes from the same data."""

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


class Series(NamedTuple):
    """A distribution under a name."""

    name: str
    values: Values


def histograms(series: Sequence[Series], bins: int, x_label: str, title: str) -> bytes:
    """Distributions over common bins, from the smallest to the largest of all values but the outermost thousandth, one line
    at each mean.

    Raises:
        ValueError: a distribution without values. ModuleNotFoundError: matplotlib is not installed.
    """
    if not series or any(one.values.size == 0 for one in series):
        raise ValueError("a histogram needs at least one value of each distribution")
    import matplotlib
    from matplotlib.figure import Figure

    every = np.concatenate([one.values for one in series])
    edges = np.linspace(float(np.quantile(every, 0.0005)), float(np.quantile(every, 0.9995)), bins + 1)
    # Ids would be random and the date today's; text stays text, so that no font of this machine enters the file.
    with matplotlib.rc_context({"svg.hashsalt": "mmau", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(7.0, 3.6), layout="constrained")
        axes = figure.subplots(1, 1)
        for number, one in enumerate(series):
            axes.hist(one.values, bins=edges.tolist(), histtype="step", label=one.name, color=f"C{number}")
            axes.axvline(float(one.values.mean()), color=f"C{number}", linestyle=":")
        axes.set(xlabel=x_label, ylabel="results", title=title)
        axes.legend()
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()
