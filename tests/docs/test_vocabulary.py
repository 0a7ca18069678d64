"""docs/vocabulary.md: every word stands in the files that its row names."""

import re

import pytest

from tests.docs.documents import ROOT

VOCABULARY = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")


def rows() -> list[tuple[str, list[str], str]]:
    """(package, words, file) for each file of the table of quantities."""
    table = VOCABULARY[VOCABULARY.index("## Quantities") : VOCABULARY.index("## Steps")]
    found = []
    for line in re.findall(r"^\| (.+) \|$", table, re.MULTILINE)[2:]:
        _, words, *files = (cell.strip() for cell in line.split("|"))
        model_words, _, rtl_words = words.partition("; in the RTL")
        for package, file in zip(("golden", "rtl"), files, strict=True):
            chosen = rtl_words if package == "rtl" and rtl_words else model_words
            if file:
                found.append((package, re.findall(r"`(\w+)`", chosen), file.strip("`")))
    return found


@pytest.mark.parametrize(("package", "words", "file"), rows(), ids=str)
def test_words_stand_in_their_files(package: str, words: list[str], file: str) -> None:
    assert words
    assert file.startswith(f"{package}/")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [word for word in words if not re.search(rf"(?<![a-zA-Z]){word}(?![a-zA-Z])", text)] == []


def test_table_has_rows_of_both_packages() -> None:
    packages = [package for package, *_ in rows()]
    assert packages.count("golden") > 12
    assert packages.count("rtl") > 12
