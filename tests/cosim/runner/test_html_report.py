"""The HTML page of a run: it is complete and self-contained, and its texts are escaped."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from cosim import Report
from cosim.rtl_coverage.file_coverage import FileCoverage
from cosim.runner.html_report import OPENED, report_page
from golden.html import VOID
from tests.cosim.coverage.unit_coverage import contradicted
from tests.cosim.runner.reports import HOSTILE, explained, failed, hostile, nothing_done, passed
from tests.golden.native.native_rows import needs_native

KNOWN = {
    "html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "h4", "h5", "p", "ul", "li",
    "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "a", "span", "code", "pre", "details", "summary",
}  # fmt: skip


class Reader(HTMLParser):
    """A strict reader of a page: every element must be known and closed in order.

    Attributes:
        elements: how many of each. ids, links: of the page. text: what is shown.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN
        self.elements[tag] += 1
        named = {name: value or "" for name, value in attrs}
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if "href" in named else []
        self.attributes += [(tag, name, value) for name, value in named.items()]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data


@pytest.mark.slow
def test_page_shows_designs_reasons_and_the_first_of_each_group() -> None:
    report = failed()
    page = Reader(report_page([passed(), report], {"absent": "cannot be built"}, seed=7))
    assert (page.links, page.ids) == (["#design-0", "#design-1"], ["design-0", "design-1"])
    assert "1 of 3 designs passed" in page.text
    for part in ("failing", *report.failures, *(group.first for group in report.groups), "cannot be built", "Seed 7."):
        assert part in page.text
    for name, count in report.classes.items():
        assert re.search(rf"{re.escape(name)}\s*{count:,}", page.text)
    models = len(passed().coverage) + len(report.coverage)
    assert page.elements["details"] == len(report.groups) + 2 + 2 * models
    assert [name for tag, name, _ in page.attributes if tag == "details"].count("open") == OPENED


def test_page_lists_every_line_and_bit_that_was_missed() -> None:
    files = (FileCoverage(f"{HOSTILE}.sv", {2: 5, 71: 0, 72: 0}, {(1, "sum[3]"): 0, (1, "sum[4]"): 7}),)
    page = Reader(report_page([replace(passed(), rtl_coverage=files)], {}, seed=0))
    assert "Coverage of the RTL: 1 of 3 lines hit, 1 of 2 bits toggled" in page.text
    assert page.elements["b"] == 0
    for missed in ("71", "72", "sum[3]"):
        assert missed in page.text
    assert "sum[4]" not in page.text
    assert "Coverage of the RTL" not in report_page([passed()], {}, seed=0)


@needs_native
def test_page_shows_where_the_coverage_model_is_wrong() -> None:
    report = passed()
    wrong, message = contradicted(report.coverage[0])
    page = Reader(report_page([replace(report, coverage=(wrong,))], {}, seed=0))
    assert "The coverage model is wrong" in page.text
    assert message in page.text
    assert "The coverage model is wrong" not in report_page([report], {}, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("report", [passed, explained, nothing_done])
def test_page_asks_for_nothing(report: Callable[[], Report]) -> None:
    page = report_page([report()], {}, seed=0)
    assert re.search(r"https?:|//|url\(|@import|<script|\bsrc=|\bon\w+=", page, re.IGNORECASE) is None
    Reader(page)


@pytest.mark.slow
def test_texts_are_escaped() -> None:
    plain, odd = Reader(report_page([failed()], {}, seed=0)), Reader(report_page([hostile()], {HOSTILE: HOSTILE}, seed=0))
    assert odd.elements["b"] == plain.elements["b"] == 0
    assert "<b>&\"'\N{SYMBOL FOR NULL}\N{SYMBOL FOR ESCAPE}]]> \N{SNOWMAN}" in odd.text
    assert {name for _, name, _ in odd.attributes} <= {name for _, name, _ in plain.attributes}


def test_campaign_that_is_not_done_says_so() -> None:
    page = Reader(report_page([passed()], {}, seed=0, running=4))
    assert "1 of 5 designs passed" in page.text
    assert "4 designs are not done yet" in page.text
