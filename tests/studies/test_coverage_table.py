"""docs/evidence/coverage.md is what its command writes."""

from pathlib import Path

import pytest

from rtl.designs.sample_units import sample_units
from studies.coverage_table import introduction, page
from tests.golden.native.native_rows import needs_native

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "coverage.md"


@pytest.mark.slow
@needs_native
def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/evidence/coverage.md is out of date: run make coverage-table"


def test_page_has_a_row_for_each_unit_and_misses_nothing() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(f"# Functional coverage\n\n{introduction()}\n")
    rows = [line.strip("| ").split(" | ") for line in text.partition("| unit |")[2].splitlines()[2:]]
    assert [(row[0], row[1]) for row in rows] == [(unit.name, unit.operation.name) for unit in sample_units()]
    assert [row for row in rows if row[3] != row[4]] == []
