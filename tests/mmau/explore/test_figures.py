"""The plots: what is drawn, and what is left out."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from mmau.explore.design_space import Asked, Constraint
from mmau.explore.figures import _write_names, accuracy_against, areas, distributions, figures, hues
from tests.mmau.explore import sample

SNR = "accuracy.normal.arithmetic_snr_db"


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
    limits = (Constraint(f"min_{SNR}", SNR, 70.0, None), Constraint("max_area_um2", "area_um2", 9e4, None))
    figure = accuracy_against(records, "cost.area_um2", "t", Asked(limits))
    assert figure is not None
    normal, outliers = figure.axes
    assert normal.get_ylabel() == "SNR of arithmetic alone, normal (dB)"
    assert outliers.get_title() == "SNR of arithmetic alone, outliers"

    def place(record: dict[str, Any]) -> list[float]:
        return [record["cost"]["area_um2"], record["accuracy"]["normal"]["arithmetic_snr_db"]]

    collections: list[Any] = list(normal.collections)
    groups = [(group.get_offsets().tolist(), len(group.get_facecolors())) for group in collections]
    assert sorted(pair for pairs, _ in groups for pair in pairs) == sorted(place(record) for record in done(records))
    open_ones = [pairs for pairs, filled in groups if not filled]
    assert open_ones == [[place(records[1])], [place(records[-1])]], "what is not co-simulated, and the reference"
    named = {text.get_text().strip() for text in normal.texts}
    assert named == {record["name"] for record in done(records)} | {"≥ 70 dB"}, "few points are all named"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    states = {"co-simulated, no mismatch", "not co-simulated", "circuit differs", "reference", "Pareto front", "limit"}
    assert {"L 4", "F 25", *states} <= {*legend}
    line, least, most = normal.lines
    assert np.asarray(least.get_ydata()).tolist() == [70.0, 70.0]
    assert np.asarray(most.get_xdata()).tolist() == [9e4, 9e4]
    # Open and with the same area, the second point is worse than the third.
    assert np.asarray(line.get_xydata()).tolist() == [place(record) for record in records[2:5]]


def test_costs_of_many_sizes_have_a_logarithmic_axis() -> None:
    records = done(few())[:4]
    scales = []
    for factor in (1, 1000):
        records[3]["cost"]["area_um2"] *= factor
        figure = accuracy_against(records, "cost.area_um2", "t")
        assert figure is not None
        scales.append(figure.axes[0].get_xscale())
    assert scales == ["linear", "log"]


def test_results_without_an_error_stand_above_all_others() -> None:
    records = done(few())[:4]
    exact = records[2]["accuracy"]["normal"]
    exact |= {"arithmetic_snr_db": None, "relative_error": {"max": 0.0, "unbounded": 0}}
    figure = accuracy_against(records, "cost.area_um2", "t")
    assert figure is not None
    collections: list[Any] = list(figure.axes[0].collections)
    places = [group.get_offsets().tolist()[0] for group in collections]
    assert max(places, key=lambda place: place[1])[0] == records[2]["cost"]["area_um2"]
    assert figure.axes[0].get_yticklabels()[-1].get_text() == "no error"


def test_numbers_have_a_scale_of_colours_and_words_colours_that_differ_most() -> None:
    assert [*hues(["a", "b"]).values()] == ["#0072b2", "#d55e00"]
    scale = [int(colour[1:3], 16) for colour in hues([8, 9, 10, 11, 12]).values()]
    assert len({*hues([8, 9, 10, 11, 12]).values()}) == 5
    assert scale[-1] > scale[0]


@pytest.mark.attack("points whose names would cover each other")
def test_names_of_neighbours_do_not_cover_each_other() -> None:
    axes = Figure().subplots(1, 1)
    places = {number: (1.0 + number / 50, 1.0 + number / 50) for number in range(5)}
    axes.scatter([0.0, 2.0], [0.0, 2.0])
    _write_names(axes, places, {number: f"E4M3 F={number}" for number in places}, [*places.values()])
    texts: list[Any] = list(axes.texts)
    assert len({(text.get_position(), text.get_ha()) for text in texts}) == 5
    heights = sorted(text.get_position()[1] for text in texts if text.get_ha() == "left")
    assert all(high - low >= 7 for low, high in pairwise(heights))


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
