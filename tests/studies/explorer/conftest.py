"""The explorer in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser_page import BrowserPage


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's file."""
    pytest.importorskip("ziglang", reason="needs the extra `site`")
    from studies.explorer.catalogue import page

    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    file.write_text(page(), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, explorer: Path) -> Iterator[BrowserPage]:
    """The page on a large screen."""
    page = BrowserPage(browser, explorer, viewport={"width": 1280, "height": 900})
    yield page
    page.finish()
