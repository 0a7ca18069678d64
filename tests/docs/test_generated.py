"""Documents that a program writes are what it would write now."""

import json

from studies.area.__main__ import page
from tests.docs.documents import ROOT


def test_area_page_is_that_of_its_figures() -> None:
    """`make area` measures the figures, area.json, and writes the page from them."""
    records = json.loads((ROOT / "docs/evidence/area.json").read_text(encoding="utf-8"))
    written = (ROOT / "docs/evidence/area.md").read_text(encoding="utf-8")
    assert page(records) == written, "run make area"
    assert page({}) != written
