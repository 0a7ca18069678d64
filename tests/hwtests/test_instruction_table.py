"""The documentation's table is the one that the sources give."""

from pathlib import Path

from hwtests.instruction_table import document, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instructions.md"


def test_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run: python -m hwtests.instruction_table docs/instructions.md"


def test_emulated_fp8_shows() -> None:
    emulated = {row: archs for row, archs in rows()["NVIDIA"].items() if "×2" in row}
    assert emulated
    assert all("e4m3" in row or "e5m2" in row for row in emulated)
    assert all(archs == ["sm_90", "sm_100"] for archs in emulated.values())
