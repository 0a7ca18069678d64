"""The page of published ratios is that of its figures, and these are of both sides."""

import json
from pathlib import Path

from studies.published_costs import COLUMNS, DISCRETE_KEY, FUSED, page

FOLDER = Path(__file__).parents[2] / "docs" / "evidence" / "explore"


def test_page_is_that_of_the_figures() -> None:
    found = json.loads((FOLDER / "cost.json").read_text())
    assert (FOLDER / "cost.md").read_text() == page(found)


def test_both_sides_were_measured() -> None:
    found = json.loads((FOLDER / "cost.json").read_text())
    for side in (FUSED, DISCRETE_KEY):
        assert all(found[side][column] > 0 for column in COLUMNS)
    assert found[FUSED]["area_um2"] < found[DISCRETE_KEY]["area_um2"], "one fused datapath shares what separate units repeat"


def test_share_is_of_the_discrete_side() -> None:
    tools = {"tools": {"yosys": "Yosys 1"}, "wanted": {"clock_ns": 20.0, "activity": 0.1, "library": "osu018"}}
    text = page({FUSED: {**dict.fromkeys(COLUMNS, 3), **tools}, DISCRETE_KEY: dict.fromkeys(COLUMNS, 4)})
    assert "| gates | 3 | 4 | 25.0% |" in text
