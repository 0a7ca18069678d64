"""docs/numerics.md has every section that the sources cite, and says of the catalogue what the catalogue says."""

import re
from pathlib import Path

import pytest

import golden
from golden.arithmetic.formats import INTEGERS
from tests.docs.documents import ROOT

NUMERICS = ROOT / "docs" / "numerics.md"
CITING = ("golden", "rtl", "cosim", "hwtests", "mmau", "studies", "tests", "docs", "README.md")
SUFFIXES = {".py", ".hpp", ".cpp", ".h", ".sv", ".toml", ".md"}
CITATION = re.compile(r"numerics\.md,\s+sections?\s+(\d+)(?:(?:,|\s+and|\s+to)\s+(\d+))?")


SPECIALS = {
    "ieee": ("IEEE 754: the top exponent holds Inf and NaN", "as fp32;"),
    "fn": ("no Inf; exponent and mantissa all ones are NaN", "0xFF is NaN", "0x7F is NaN"),
    "fnuz": ("no Inf, no -0, and 0x80 is the NaN",),
    "finite": ("none: every code is a number",),
}
"""The table's descriptions of a format's special values."""


def sections() -> dict[int, str]:
    """Title by number."""
    text = NUMERICS.read_text(encoding="utf-8")
    return {int(number): title for number, title in re.findall(r"^## (\d+)\. (.+)$", text, re.MULTILINE)}


def citations() -> list[tuple[Path, int]]:
    found = []
    for top in (ROOT / name for name in CITING):
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                for match in CITATION.finditer(path.read_text(encoding="utf-8")):
                    found += [(path, int(number)) for number in match.groups() if number]
    return found


@pytest.mark.slow
def test_every_cited_section_is_there() -> None:
    found = citations()
    assert len(found) > 30
    assert [(path.name, number) for path, number in found if number not in sections()] == []


@pytest.mark.parametrize("key", golden.EVIDENCE)
def test_every_evidence_is_explained(key: str) -> None:
    text = NUMERICS.read_text(encoding="utf-8")
    table = text[text.index("## 10.") : text.index("## 11.")]
    assert f"| `{key}` |" in table


def test_every_format_and_operation_is_described() -> None:
    text = NUMERICS.read_text(encoding="utf-8")
    formats = text[text.index("## 2.") : text.index("## 3.")]
    operations = text[text.index("## 5.") : text.index("## 6.")]
    assert [name for name in golden.FORMATS if not re.search(rf"\b{name}\b", formats)] == []
    assert [name for name in golden.OPERATIONS if f"**{name}.**" not in operations] == []


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the table that begins with that cell, without its head."""
    found = re.search(rf"^\| {re.escape(first)} \|.*\n\|[ |-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert found is not None, f"there is no table {first!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def wrong_formats() -> list[str]:
    """The formats that section 2 describes otherwise than `golden.FORMATS`, or not at all."""
    text = NUMERICS.read_text(encoding="utf-8").replace("−", "-")
    formats_section = text[text.index("## 2.") : text.index("## 3.")]
    described = {}
    for names, widths, specials in rows(formats_section, "name"):
        formats = [name.partition(" ")[0] for name in names.split("; ")]
        for name, listed in zip(formats, widths.split("; "), strict=True):
            exp_bits, man_bits, bias = map(int, re.findall(r"\d+", listed))
            described[name] = (exp_bits, man_bits, bias, specials)
    wrong = {*described} ^ ({*golden.FORMATS} - {*INTEGERS})
    for name, (exp_bits, man_bits, bias, specials) in described.items():
        known = golden.FORMATS.get(name)
        if known is not None and (
            (known.exp_bits, known.man_bits, known.bias) != (exp_bits, man_bits, bias)
            or not any(words in specials for words in SPECIALS[known.specials])
        ):
            wrong.add(name)
    return sorted(wrong)


def test_formats_are_those_of_the_models() -> None:
    assert wrong_formats() == []
