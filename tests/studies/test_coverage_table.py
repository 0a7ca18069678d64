"""docs/evidence/coverage.md is what its command writes."""

from pathlib import Path

import pytest

from cosim.coverage.sample_units import sample_units
from studies.coverage_table import introduction, page
from tests.golden.native.native_rows import needs_native

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "coverage.md"


@pytest.mark.slow
@needs_native
def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/evidence/coverage.md is out of date: run make coverage-table"


def test_page_has_a_section_for_each_unit_and_misses_nothing() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(f"# Functional coverage\n\n{introduction()}\n")
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [
        "Reachable bins", *(unit.name for unit in sample_units())
    ]  # fmt: skip
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ") and line.count(" | ") >= 4]
    missed = [row for row in rows if len(row) >= 5 and row[1][:1].isdigit() and row[3] != "0"]
    assert missed == []
