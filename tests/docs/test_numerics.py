"""docs/numerics.md has every section that the sources cite, and says of the catalogue what the catalogue says."""

import re
from pathlib import Path

import pytest

import golden
from tests.docs.documents import ROOT

NUMERICS = ROOT / "docs" / "numerics.md"
CITING = ("golden", "rtl", "cosim", "hwtests", "mmau", "studies", "tests", "docs", "README.md")
SUFFIXES = {".py", ".hpp", ".cpp", ".h", ".sv", ".toml", ".md"}
CITATION = re.compile(r"numerics\.md,\s+sections?\s+(\d+)(?:(?:,|\s+and|\s+to)\s+(\d+))?")


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
