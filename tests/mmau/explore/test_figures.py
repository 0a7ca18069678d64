"""The plots: what is drawn, and what is left out."""

from itertools import combinations, pairwise
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from mmau.explore.design_space import Asked, Constraint, Question
from mmau.explore.figures import accuracy_against, areas, distributions, figures, largest_components, settled
from mmau.explore.names_in_plots import write_names
from mmau.explore.styles import hues
from mmau.report.figures import drawing, image
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
    assert named == {record["name"] for record in done(records)} | {
        "SNR of arithmetic alone, normal ≥ 70 dB",
        "area ≤ 90000 µm²",
    }, "few points are all named"
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


@pytest.mark.attack("names that a plot drops without a word")
def test_names_without_a_place_stand_below_the_legend() -> None:
    records = done(few())[:4]
    records[2]["name"] = "a name that is wider than its panel, " * 4 + "whatever its size"
    with drawing():
        figure = accuracy_against(records, "cost.area_um2", "t")
        assert figure is not None
        (said,) = [text for text in figure.texts if text.get_text().startswith("no room for")]
        assert " ".join(said.get_text().split()) == f"no room for: {records[2]['name']}"
        figure.draw_without_rendering()
        box = said.get_window_extent()
        assert box.x1 < figure.bbox.x1
        assert box.y1 < figure.legends[0].get_window_extent().y0
        assert all(axes.get_window_extent().x1 < box.x0 for axes in figure.axes)


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


@pytest.mark.attack("points whose names would cover each other or a line")
def test_names_cover_no_name_no_point_and_no_line() -> None:
    with drawing():
        figure = Figure(figsize=(5.0, 4.0))
        axes = figure.subplots(1, 1)
        places = [(1.0 + number / 50, 1.0 + number / 50) for number in range(5)]
        axes.scatter([0.0, 2.0, *(x for x, _ in places)], [0.0, 2.0, *(y for _, y in places)])
        settled(figure)
        names = {place: f"E4M3 F={number}" for number, place in enumerate(places)}
        assert write_names(axes, names, [(0.0, 0.0), (2.0, 2.0)], [[(0.0, 1.0), (2.0, 1.0)]], [1.1], [1.05]) == []
        figure.draw_without_rendering()
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without a line to the point
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for box in boxes:
        (low_x, low_y), (high_x, high_y) = axes.transData.inverted().transform([box.min, box.max])
        assert not any(low_x < x < high_x and low_y < y < high_y for x, y in places)
        assert not any(low_y < height < high_y for height in (1.0, 1.1))
        assert not low_x < 1.05 < high_x
        assert axes.get_window_extent().extents[0] <= box.x0 < box.x1 <= axes.get_window_extent().extents[2]


CROWD = {
    "MXFP4 F=13 osu018": (104.1, 15.7), "MXFP4 F=25 osu018": (132.4, 15.7), "NVFP4 F=13 osu018": (132.9, 17.7),
    "NVFP4 F=25 osu018": (154.4, 17.7), "e4m3 8x8 F=13 osu018": (153.1, 28.6), "bf16 F=25 osu018": (308.7, 52.6),
}  # fmt: skip
"""Points of a report whose names stood beside their neighbours."""


@pytest.mark.attack("names beside the markers of other points")
@pytest.mark.parametrize("shift", ["", " and a longer name"])
def test_names_are_near_their_own_point_alone_or_joined_to_it(shift: str) -> None:
    with drawing():
        figure = Figure(figsize=(5.0, 4.0))
        axes = figure.subplots(1, 1)
        axes.scatter(*zip(*CROWD.values(), strict=True))
        axes.margins(0.12, 0.18)
        settled(figure)
        left_out = write_names(axes, {place: f"{name}{shift}" for name, place in CROWD.items()})
        figure.draw_without_rendering()
        places = {name: axes.transData.transform(place) for name, place in CROWD.items()}
        found = [(text, Text.get_window_extent(text)) for text in axes.texts]
    assert len(left_out) <= bool(shift)
    joined = 0
    for text, box in found:

        def gap(place: Any, box: Any = box) -> float:
            return float(np.hypot(*(place - np.clip(place, box.min, box.max))))

        own = gap(places[text.get_text().removesuffix(shift)])
        if text.arrow_patch is None:  # type: ignore[attr-defined]
            others = [place for name, place in places.items() if name != text.get_text().removesuffix(shift)]
            assert own * 1.9 < min(map(gap, others)), text.get_text()
        else:
            joined += 1
    assert joined, "where nothing else is near enough"


@pytest.mark.attack("more names than a panel holds")
def test_names_without_a_place_are_left_out() -> None:
    with drawing():
        figure = Figure(figsize=(1.5, 1.0))
        axes = figure.subplots(1, 1)
        axes.scatter([0.0, 1.0], [0.0, 1.0])
        settled(figure)
        assert write_names(axes, {(0.5, 0.5): "a name that is wider than all of its panel"}) == [
            "a name that is wider than all of its panel"
        ]
        assert not axes.texts


def two_libraries() -> list[dict[str, Any]]:
    """Points in two libraries of cells, one with areas 500 times as large as the other's."""
    found = sample.records()[4:10]
    for number, record in enumerate(found):
        cost = record["cost"]
        cost["wanted"]["library"] = ("osu018", "asap7")[number % 2]
        if number % 2:
            cost["area_um2"] /= 500
            cost["area_by_component"] = {name: area / 500 for name, area in cost["area_by_component"].items()}
    return found


@pytest.mark.slow
def test_each_library_of_cells_has_panels_of_its_own() -> None:
    records = two_libraries()
    figure = accuracy_against(records, "cost.area_um2", "t")
    bars = areas(records, "t")
    assert figure is not None
    assert bars is not None
    titles = [axes.get_title() for axes in figure.axes]
    measure = "SNR of arithmetic alone"
    assert titles == [f"{cells}: {measure}, {of}" for cells in ("osu018", "asap7") for of in ("normal", "outliers")]
    for panel, cells in ((0, "osu018"), (2, "asap7")):
        collections: list[Any] = list(figure.axes[panel].collections)
        found = sorted(x for group in collections for x, _ in group.get_offsets().tolist())
        held = [record for record in records if record["cost"]["wanted"]["library"] == cells]
        assert found == sorted(record["cost"]["area_um2"] for record in held)
        assert len(figure.axes[panel].lines) == 1, "a front for each"
    assert {text.get_text() for text in figure.axes[2].texts} == {record["name"] for record in records[1::2]}
    assert [axes.get_title() for axes in bars.axes] == ["osu018", "asap7"]
    assert [axes.get_xlabel() for axes in bars.axes] == ["area (µm²)"] * 2
    for axes in bars.axes:
        longest = max(bar.get_x() + bar.get_width() for bar in axes.patches)  # type: ignore[attr-defined]
        assert longest * 1.02 < axes.get_xlim()[1] < longest * 1.1, "no bar is too short to see, none touches the frame"


def test_what_was_asked_stands_first_in_words_and_as_a_line() -> None:
    column = "accuracy.outliers.arithmetic_snr_db"
    limit = Constraint(f"min_{column}", column, 70.0, None)
    asked = Asked((), (Question("cheapest", "area_um2", (limit,), {"L": 4}), Question("again", "cells", (limit,))))
    figure = accuracy_against(done(few())[:4], "cost.area_um2", "t", asked)
    assert figure is not None
    first = figure.axes[0]
    assert first.get_title() == "SNR of arithmetic alone, outliers"
    assert [text.get_text() for text in first.texts].count("SNR of arithmetic alone, outliers ≥ 70 dB") == 1
    said = figure.get_suptitle().splitlines()
    assert said[1] == "cheapest: least area; SNR of arithmetic alone, outliers ≥ 70 dB; L = 4"


def texts_of(figure: Figure) -> list[Any]:
    """Every text that is drawn."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


@pytest.mark.slow
@pytest.mark.attack("one point with a long name and many components, whose legend and name were cut")
def test_nothing_is_cut_where_there_is_one_point() -> None:
    record = few()[2] | {"name": "F=25 NVFP4 with a very long name of a format 180nm-L8 and more of it"}
    record["cost"]["area_by_component"] = {f"component_{number}": 10.0 + number for number in range(18)}
    with drawing(), catch_warnings():
        simplefilter("error")
        figures_of = [plot([record], "a heading that is long " * 5) for plot in (distributions, areas)]
        figures_of.append(accuracy_against([record], "cost.area_um2", "a heading that is long " * 5))
        for figure in figures_of:
            assert figure is not None
            image(figure, "png")
            figure.draw_without_rendering()  # in the scale of what is measured
            frame = figure.bbox
            for text in texts_of(figure):
                box = text.get_window_extent()
                assert frame.x0 <= box.x0 < box.x1 <= frame.x1, text.get_text()
                assert frame.y0 <= box.y0 < box.y1 <= frame.y1, text.get_text()
    bars = figures_of[1]
    assert bars is not None
    assert len(bars.legends[0].get_texts()) == 9, "eight parts, and the whole"


def test_small_components_are_one_part_of_a_bar() -> None:
    records = few()[2:4]
    records[0]["cost"]["area_by_component"] = {f"c{number}": 1.0 + number for number in range(12)}
    records[1]["cost"]["area_by_component"] = {"c0": 90.0, "c11": 10.0}
    found = largest_components(records)
    assert found == {
        **{f"c{number}": [f"c{number}"] for number in (0, 6, 7, 8, 9, 10, 11)},
        "others": ["c1", "c2", "c3", "c4", "c5"],
    }


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
    figure = distributions(few()[:1], "t")
    assert figure is not None
    first: Any = figure.axes[0].patches[0]
    assert figure.axes[0].get_yticklabels()[0].get_text() == "L=4 F=10 ones-complement"
    shares = [10 / 500, 250 / 500, 500 / 500, 130 / 500]
    assert np.asarray(first.get_data().values).tolist() == pytest.approx([0.85 * share for share in shares])


def test_distributions_of_many_say_which_arithmetics_they_are_of() -> None:
    built = ("ones-complement", "sign-magnitude")
    records = [
        sample.done(f"F={F} {each}", 4, F, each, sample.verified(9)) for F in range(8, 40) for each in reversed(built)
    ]
    figure = distributions(records, "t")
    assert figure is not None
    said = " ".join(figure.get_suptitle().split())
    assert said.startswith("t: distribution of the error of the arithmetic alone, 16 of 32 arithmetics, along the front of")
    assert [len(axes.patches) for axes in figure.axes] == [16, 16]
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert (rows[0], rows[-1]) == ("F=8", "F=39")


@pytest.mark.attack("distributions that hide each other, and a panel of a workload that no drawn point has")
def test_distributions_have_a_row_each_and_no_panel_is_empty() -> None:
    records = done(sample.records())[4:20]
    for record in records[:15]:
        del record["accuracy"]["outliers"]
    records[15]["beyond"] = "a limit"  # so that it is not along the front
    figure = distributions(records, "t")
    assert figure is not None
    assert [axes.get_title() for axes in figure.axes] == ["normal"]
    rows = [patch.get_data() for patch in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert len(rows) > 1
    for row, below in pairwise(rows):
        assert max(below.values) < row.baseline
    assert "of the arithmetic alone" in figure.get_suptitle()


@pytest.mark.attack("a library of cells that seems to change the error, and FP4 that is left out")
def test_distributions_have_a_row_for_each_arithmetic_and_labels_apart() -> None:
    records = []
    for form in ("bf16", "e4m3", "MXFP4", "NVFP4"):
        for F in (13, 25):
            for cells in ("osu018", "asap7"):
                record = done(sample.records())[6] | {"name": f"{form} F={F} {cells}"}
                record["parameters"] = {"a": form, "F": F, "implementation.library": cells}
                record["axes"] = {"operands": form, "F": F, "library": cells}
                edges = [*(-(2.0**k) for k in range(16, -4, -1)), 0.0, *(2.0**k for k in range(-3, 17))]
                for workload in ("normal", "outliers"):
                    measured = {**record["accuracy"][workload], "ulp": {"histogram": [[edge, 5] for edge in edges]}}
                    record["accuracy"] = {**record["accuracy"], workload: measured}
                records.append(record)
    with drawing():
        figure = distributions(records, "t")
        assert figure is not None
        figure.draw_without_rendering()
        rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert rows == [f"{form} F={F}" for form in ("bf16", "e4m3", "MXFP4", "NVFP4") for F in (13, 25)]
        for axes in figure.axes:
            assert len(axes.patches) == len(rows)
            labels = axes.get_xticklabels()
            assert {"-65536", "0", "65536"} <= {text.get_text() for text in labels}
            boxes = [text.get_window_extent() for text in labels]
            assert all(one.x1 + 3 < other.x0 for one, other in pairwise(boxes))
    assert figure.get_suptitle().startswith("t: distribution of the error of the arithmetic alone\n")


@pytest.mark.attack("a heading under the legend, and a legend of what is not drawn")
def test_legend_has_what_is_drawn_and_covers_nothing() -> None:
    records = done(few())[:4]
    del records[3]["cost"]["area_um2"]
    with drawing():
        figure = accuracy_against(records, "cost.area_um2", "a heading that is long " * 5)
        assert figure is not None
        figure.draw_without_rendering()
        (heading,) = [text for text in figure.findobj(Text) if text.get_text().startswith("a heading")]
        assert heading.get_window_extent().x1 < figure.legends[0].get_window_extent().x0
    assert not any(text.get_text() == "F 14" for text in figure.legends[0].get_texts())


@pytest.mark.attack("bars that are longer than the area beside them, without a word")
def test_bars_of_components_say_that_they_are_longer_than_the_whole() -> None:
    records = done(few())[:3]
    records[1]["cost"]["area_um2"] /= 1.25
    figure = areas(records, "t")
    assert figure is not None
    said = " ".join(figure.get_suptitle().split())
    assert "together they take 100 to 125 % of the area of the datapath (black line)" in said
    lines = [np.asarray(line.get_xdata()).tolist() for line in figure.axes[0].lines]
    assert lines == [[record["cost"]["area_um2"]] * 2 for record in records]
    assert "mapped as a whole" in [text.get_text() for text in figure.legends[0].get_texts()]


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
