"""Contents of the answers' plots: points with intervals, and bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Bars(NamedTuple):
    """One colour of a plot: a value for each group, with an interval where there is one."""

    name: str
    values: Sequence[float]
    intervals: Sequence[tuple[float, float]] | None = None


def points_with_intervals(axes: "Axes", groups: Sequence[str], series: Sequence[Bars], label: str, title: str) -> None:
    """A value with its interval for each group and colour, around a line at zero."""
    axes.axhline(0.0, color="#888888", linewidth=1)
    for number, one in enumerate(series):
        places = [place + 0.16 * (number - (len(series) - 1) / 2) for place in range(len(groups))]
        sides = [
            [value - low for value, (low, _) in zip(one.values, one.intervals or (), strict=True)],
            [high - value for value, (_, high) in zip(one.values, one.intervals or (), strict=True)],
        ]
        axes.errorbar(places, one.values, yerr=sides, fmt="o", markersize=4, capsize=3, label=one.name)
    _finish(axes, groups, label, title)


def bars(axes: "Axes", groups: Sequence[str], series: Sequence[Bars], label: str, title: str, log: bool = False) -> None:
    """A bar for each group and colour."""
    width = 0.8 / len(series)
    for number, one in enumerate(series):
        places = [place + width * (number - (len(series) - 1) / 2) for place in range(len(groups))]
        axes.bar(places, one.values, width=width, label=one.name, log=log)
    _finish(axes, groups, label, title)


def _finish(axes: "Axes", groups: Sequence[str], label: str, title: str) -> None:
    axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
    axes.grid(axis="y", alpha=0.3)
    axes.set_ylabel(label)
    axes.set_title(title, loc="left")
    axes.legend(fontsize="small", ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)
