"""docs/reference/vocabulary.md: every word stands in the files that its row names, steps and names in Verilog are real."""

import re

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from rtl import to_verilog
from rtl.steps.component import SharedComponent
from tests.docs.documents import ROOT

VOCABULARY = (ROOT / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")


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


def examples_in_verilog() -> list[str]:
    """The names that the document gives as examples of Verilog."""
    table = VOCABULARY[VOCABULARY.index("In the Verilog of a pipelined unit:") :]
    cells = [line.split("|")[-2] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def missing_names(names: list[str], text: str) -> list[str]:
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


@pytest.mark.slow
def test_names_in_verilog_are_there() -> None:
    operation = TFDPA(a="fp16", b="fp16", c="fp32", L=4, F=25, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
    text = to_verilog(Unit(name="named", operation=operation, implementation=Implementation(stages=8)))
    names = examples_in_verilog()
    assert len(names) >= 6
    assert missing_names(names, text) == []
    assert missing_names(["decode_a_0", "align_aligned_3"], text) == ["decode_a_0", "align_aligned_3"], (
        "names without a record"
    )


def test_every_step_of_the_datapaths_is_named() -> None:
    section = VOCABULARY[VOCABULARY.index("## Steps") : VOCABULARY.index("## Verbs")]
    files = [
        path for path in (ROOT / "rtl" / "steps").glob("*.py") if f"({SharedComponent.__name__})" in path.read_text("utf-8")
    ]
    assert len(files) >= 12
    assert [path.stem for path in files if f"`{path.stem}`" not in section] == []
