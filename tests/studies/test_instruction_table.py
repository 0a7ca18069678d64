"""The documentation's table is the one that the sources give."""

import re
from pathlib import Path

import pytest

from studies.instruction_table import document, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "instructions.md"


@pytest.mark.slow
def test_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), (
        "run: python -m studies.instruction_table docs/reference/instructions.md"
    )


@pytest.mark.slow
def test_what_the_compiler_makes_of_several_instructions_shows() -> None:
    """FP8 on sm_90 and sm_100; 4-bit integers from Hopper on, and single bits but and on Hopper."""
    emulated = {source: archs for (source, target), archs in rows()["NVIDIA"].items() if "×" in target}
    of_fp8 = {source for source in emulated if "e4m3" in source or "e5m2" in source}
    of_bits = {source for source in emulated if ".b1." in source}
    of_four = {source for source in emulated if re.search(r"\.[su]4\.", source)}
    assert of_fp8
    assert of_four
    assert of_fp8 | of_bits | of_four == set(emulated)
    assert all(emulated[source] == ["sm_90", "sm_100"] for source in of_fp8 if ".sp" not in source)
    assert {arch for source in of_four for arch in emulated[source]} == {"sm_90", "sm_100", "sm_120"}
    assert {("xor" in source, arch) for (source, target), archs in rows()["NVIDIA"].items() for arch in archs
            if source in of_bits and "BMMA" in target and "×" in target} == {(True, "sm_90")}  # fmt: skip
