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


def done(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that were evaluated."""
    return [record for record in records if record["status"] == "done"]


@pytest.mark.slow
def test_accuracy_is_drawn_over_the_area() -> None:
    records = few()
    figure = accuracy_against(records, "cost.area_um2", "t")
    assert figure is not None
    normal, outliers = figure.axes
    assert (normal.get_title(), outliers.get_title()) == ("normal", "outliers")

    def place(record: dict[str, Any]) -> list[float]:
        return [record["cost"]["area_um2"], record["accuracy"]["normal"]["relative_error"]["p99"]]

    collections: list[Any] = list(normal.collections)
    groups = [(group.get_offsets().tolist(), len(group.get_facecolors())) for group in collections]
    assert sorted(pair for pairs, _ in groups for pair in pairs) == sorted(place(record) for record in done(records))
    open_ones = [pairs for pairs, filled in groups if not filled]
    assert open_ones == [[place(records[1])], [place(records[-1])]], "what is not co-simulated, and the reference"
    named = {text.get_text() for text in normal.texts}
    assert named == {record["name"] for record in records[2:5]} | {records[-1]["name"].rpartition(":")[2]}
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"L 4", "co-simulated", "not co-simulated", "circuit differs", "reference", "Pareto front"} <= {*legend}
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
