"""The plots: what is drawn, and what is left out."""

from typing import Any

import numpy as np
import pytest

from mmau.explore.figures import accuracy_against, areas, distributions, figures
from tests.mmau.explore import sample


def few() -> list[dict[str, Any]]:
    """A point of each kind."""
    found = sample.records()
    return [found[0], found[1], found[2], found[4], found[10], *found[-4:]]


def offsets(axes: Any) -> dict[str, list[list[float]]]:
    """The points of each group, by its label."""
    return {group.get_label(): group.get_offsets().tolist() for group in axes.collections}


@pytest.mark.slow
def test_accuracy_is_drawn_over_the_area() -> None:
    records = few()
    figure = accuracy_against(records, "cost.area_um2", "t")
    assert figure is not None
    normal, outliers = figure.axes
    assert (normal.get_title(), outliers.get_title()) == ("normal", "outliers")

    def place(record: dict[str, Any]) -> list[float]:
        return [record["cost"]["area_um2"], record["accuracy"]["normal"]["relative_error"]["p99"]]

    assert offsets(normal) == {
        "point, circuit differs": [place(records[0])],
        "point, not co-simulated": [place(records[1])],
        "point, co-simulated": [place(record) for record in records[2:5]],
        "reference, not co-simulated": [place(records[-1])],
    }
    (line,) = normal.lines
    # Open and with the same area, the second point is worse than the third.
    assert np.asarray(line.get_xydata()).tolist() == [place(record) for record in records[2:5]]


def test_plot_without_values_is_not_made() -> None:
    records = few()
    for record in records:
        if record["status"] == "done":
            record["cost"]["delay_ns"] = None
        else:
            record["cost"] = {"delay_ns": 1.0}
    assert accuracy_against(records, "cost.delay_ns", "t") is None
    nothing = [sample.without_result("x", "invalid", "no", 0)]
    assert (distributions(nothing, "t"), areas(nothing, "t")) == (None, None)
    assert figures(nothing, "t") == {}


def test_distributions_are_shares_of_the_filled_bins() -> None:
    figure = distributions(few(), "t")
    assert figure is not None
    first = figure.axes[0].lines[0]
    assert first.get_label() == "L=4 F=10 ones-complement"
    total = 10 + 250 + 500 + 130
    assert np.asarray(first.get_ydata()).tolist() == [10 / total, 250 / total, 500 / total, 130 / total]


def test_bars_add_up_to_the_area() -> None:
    records = few()
    figure = areas(records, "t")
    assert figure is not None
    axes = figure.axes[0]
    ends: dict[int, float] = {}
    for container in axes.containers:
        for number, bar in enumerate(container):
            ends[number] = bar.get_x() + bar.get_width()
    shown = [record["cost"]["area_um2"] for record in records if record["status"] == "done"]
    assert list(ends.values()) == pytest.approx(shown)


@pytest.mark.slow
def test_figure_is_written_the_same_twice_with_any_name() -> None:
    record = few()[2] | {"name": "_costs $5, or $6 _ {", "accuracy": {}}
    once, again = (figures([record], "costs $5, or $6 _ {") for _ in range(2))
    assert list(once) == ["area-by-component.svg", "area-by-component.png"]
    assert once == again
    assert b">costs $5, or $6 _ {: area by component<" in once["area-by-component.svg"]
    assert b"> _costs $5, or $6 _ {<" in once["area-by-component.svg"]
    assert once["area-by-component.png"].startswith(b"\x89PNG")
