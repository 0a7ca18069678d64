"""Figures."""

import xml.etree.ElementTree as ET

import pytest

from mmau.report.figures import line_plot

SERIES = {"1 warp": [(1.0, 10.0), (2.0, 20.0)], "<4> warps": [(1.0, 40.0), (2.0, 40.0)]}


@pytest.mark.slow
def test_figure_is_the_same_bytes_from_the_same_data() -> None:
    figure = line_plot(SERIES, "a & b", "ILP", "FMA/cycle/SM")
    assert figure == line_plot(SERIES, "a & b", "ILP", "FMA/cycle/SM")
    assert figure != line_plot(dict(reversed(SERIES.items())), "a & b", "ILP", "FMA/cycle/SM")


def test_plot_is_well_formed_and_has_every_name() -> None:
    texts = {element.text for element in ET.fromstring(line_plot(SERIES, "a & b", "ILP", "FMA/cycle/SM")).iter()}
    assert {"a & b", "ILP", "FMA/cycle/SM", "1 warp", "<4> warps"} <= texts


def test_plot_without_points_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a plot needs at least one point, 'empty' has none$"):
        line_plot({"nothing": []}, "empty", "x", "y")
