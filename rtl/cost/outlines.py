"""Areas of a library's cells from their outlines: its Liberty file states some that its layout does not have.

In OSU's libraries, OAI21X1 has 23 µm² in osu018's Liberty file and 32 µm² in its LEF file, as wide as AOI21X1; NAND3X1 has
36 and 32. Mapping for area then takes OAI21X1 wherever it can, and the sum is too small by several per cent.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_AREA = re.compile(r"(\bcell\s*\(\s*(\w+)\s*\)\s*\{[^{}]*?\barea\s*:\s*)([^;]+?)(\s*;)")


@cache
def outline_areas(liberty: Path) -> Mapping[str, float]:
    """The area in µm² of every cell that the LEF file beside a Liberty file outlines, by name.

    Raises:
        ValueError: the LEF file outlines no cell.
        OSError: the LEF file cannot be read.
    """
    lef = liberty.with_suffix(".lef")
    size = r"^MACRO (\w+)$(?:(?!^MACRO ).)*?^\s*SIZE\s+([\d.]+)\s+BY\s+([\d.]+)\s*;"
    found = re.findall(size, lef.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"{lef} must have cells (MACRO) with a SIZE, and none was found")
    return {name: round(float(width) * float(height), 6) for name, width, height in found}


@cache
def outlined_library(liberty: Path) -> str:
    """The text of a Liberty file in which every cell has the area of its outline; those without one keep theirs.

    Raises:
        ValueError: its LEF file outlines none. OSError: one of the files cannot be read.
    """
    areas = outline_areas(liberty)
    return _AREA.sub(lambda cell: _with_area(cell, areas), liberty.read_text(encoding="utf-8"))


def _with_area(cell: re.Match[str], areas: Mapping[str, float]) -> str:
    before, name, stated, after = cell.groups()
    return f"{before}{areas[name]:g}{after}" if name in areas else f"{before}{stated}{after}"
