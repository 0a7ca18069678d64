"""report.html in a browser: colours, narrow screens, and pages with few or unusual values."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmau.explore.report.html_report import page as report_page
from tests.mmau.explore.report import sample
from tests.mmau.explore.report.browser_page import Opened

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("chromium"),
]


def test_colours_switch(browser: Any, report: Path) -> None:
    opened = Opened(browser, report, viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page = opened.page
    background = "getComputedStyle(document.body).backgroundColor"
    text = "document.getElementById('plot').layout.font.color"
    assert (page.evaluate(background), page.evaluate(text)) == ("rgb(23, 25, 28)", "#e4e6ea")
    opened.choose("#theme", "light")
    assert (page.evaluate(background), page.evaluate(text)) == ("rgb(255, 255, 255)", "#1c1e21")
    opened.choose("#theme", "")
    page.emulate_media(color_scheme="light")
    for _ in range(100):  # the page hears of it a moment later
        if page.evaluate(text) == "#1c1e21":
            break
        page.wait_for_timeout(50)
    assert (page.evaluate(background), page.evaluate(text)) == ("rgb(255, 255, 255)", "#1c1e21")
    opened.choose("#theme", "dark")
    assert (page.evaluate(background), page.evaluate(text)) == ("rgb(23, 25, 28)", "#e4e6ea")
    opened.finish()


def test_phone_has_no_sideways_scroll(browser: Any, report: Path) -> None:
    opened = Opened(browser, report, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page = opened.page
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == 360
    page.get_by_role("button", name="L=8 F=22 ones-complement").tap()
    assert page.locator("#point").evaluate(
        "each => each.getBoundingClientRect().right <= 360 && each.scrollWidth <= each.clientWidth"
    )
    page.locator("#close").tap()
    opened.choose("#x", "cost.energy_pj")
    assert page.evaluate(width) == 360
    assert page.evaluate("document.getElementById('plot').layout.dragmode") is False  # a finger scrolls the page
    opened.finish()


def test_page_without_values_says_so(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    records = [sample.without_result("F=0", "invalid", "no unit", 0)]
    records[0]["parameters"] = {"a": "fp99"}
    file.write_text(report_page(records, "t", ""), encoding="utf-8")
    opened = Opened(browser, file)
    assert opened.names() == ["F=0"]
    assert opened.page.locator("#trade-offs").is_hidden()
    opened.finish()


def test_infinite_and_zero_values_are_reported(browser: Any, tmp_path: Path) -> None:
    records = sample.records()[4:9]
    for record, error in zip(records, (0.0, float("inf"), 1e-6, float("nan"), 1e-3), strict=True):
        record["accuracy"]["normal"]["relative_error"]["p99"] = error
    file = tmp_path / "report.html"
    file.write_text(report_page(records, "t", ""), encoding="utf-8")
    opened = Opened(browser, file, viewport={"width": 1280, "height": 900})
    note = str(opened.page.locator("#plot-note").text_content())
    assert note.startswith("3 of 5 shown points are drawn; not drawn: 1 infinite, 1 without a value.")
    assert "1 of them are 0 and stand a decade below the smallest other value." in note
    shown = dict(zip(opened.names(), opened.column("accuracy.normal.relative_error.p99"), strict=True))
    assert [shown[record["name"]] for record in records] == ["0", "∞", "1.000e−6", "–", "0.001"]
    assert json.loads(opened.page.locator("#data").text_content() or "")["points"][1]["state"] == "agrees"
    opened.finish()
