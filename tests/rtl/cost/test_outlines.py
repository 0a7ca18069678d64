"""Areas of cells from their outlines."""

import re
from pathlib import Path

import pytest

from rtl.cost.liberty import outline_areas, outlined_library

LEF = """
MACRO PAD
  CLASS PAD ;
END PAD
MACRO NAND2
  SIZE 2.4 BY 10.0 ;
END NAND2
MACRO OAI21
  CLASS CORE ;
  SIZE 3.2 BY 10.0 ;
END OAI21
"""

LIBERTY = "cell (NAND2) {\narea : 24;\n} cell (OAI21) { area : 23; } cell (LATCH) { area : 72; pin(D) { area : 5; } }"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "small.lef").write_text(LEF)
    (tmp_path / "small.lib").write_text(LIBERTY)
    return tmp_path / "small.lib"


def test_area_is_width_times_height_of_the_cell_itself(small: Path) -> None:
    assert outline_areas(small) == {"NAND2": 24.0, "OAI21": 32.0}


def test_only_a_cell_that_has_an_outline_gets_its_area(small: Path) -> None:
    assert outlined_library(small) == LIBERTY.replace("23", "32")


def test_file_without_outlines_is_refused(small: Path) -> None:
    lef = small.with_suffix(".lef")
    lef.write_text("VERSION 5.4 ;\n")
    with pytest.raises(ValueError, match=f"^{re.escape(f'{lef} must have cells (MACRO) with a SIZE, and none was found')}$"):
        outline_areas(small)
