"""The documentation's table is the one that the sources give."""

from pathlib import Path

import pytest

from studies.instruction_table import document

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "instructions.md"


@pytest.mark.slow
def test_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), (
        "run: python -m studies.instruction_table docs/reference/instructions.md"
    )
