"""Fixtures of the tests in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mmau.explore.html_report import page as report_page
from tests.mmau.explore import sample
from tests.mmau.explore.browser_page import Opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report_page(sample.records(), sample.TITLE, sample.SPACE), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    """The page on a large screen."""
    page = Opened(browser, report, viewport={"width": 1280, "height": 900})
    yield page
    page.finish()
