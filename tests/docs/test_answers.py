"""docs/guides/answers: the tables are what the models give now, the text repeats them, and every command runs."""

import re
import shutil
from pathlib import Path

import pytest

from studies.answers.__main__ import TABLES, names, with_tables
from tests.docs.documents import ROOT, blocks, commands
from tests.docs.test_own_design import run

ANSWERS = sorted((ROOT / "docs" / "guides" / "answers").glob("*.md"))

SHELL = sorted(
    {tuple(words) for page in ANSWERS for block in blocks(page) if block.language == "sh" for words in commands(block)}
)

EVERY_ANSWER = pytest.mark.parametrize("document", ANSWERS, ids=lambda path: path.stem)


def parts(document: Path) -> tuple[str, str]:
    """The text by hand and the tables of a page."""
    text = document.read_text(encoding="utf-8")
    by_hand = with_tables(text, {name: lambda: "" for name in names(text)})
    return by_hand, "\n".join(
        re.findall(r"^<!-- table [\w-]+ -->\n(.*?)^<!-- end of table -->$", text, re.MULTILINE | re.DOTALL)
    )


@pytest.mark.slow
@EVERY_ANSWER
def test_tables_are_what_the_models_give_now(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert names(text) or any(
        block.language == "python" for block in blocks(document)
    )  # whose results are tested with the guides
    assert with_tables(text, TABLES) == text, "run python -m studies.answers docs/guides/answers"


def test_every_table_stands_on_a_page() -> None:
    assert sorted(name for page in ANSWERS for name in names(page.read_text(encoding="utf-8"))) == sorted(TABLES)


@pytest.mark.long
@pytest.mark.parametrize("words", SHELL, ids=" ".join)
def test_every_command_runs(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the pages, which stays as it is. A machine without the processor's instructions is told so."""
    copy = tmp_path / "docs" / "guides" / "answers"
    shutil.copytree(ROOT / "docs" / "guides" / "answers", copy)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    status, _ = run(list(words), tmp_path)
    assert status == 0 or (words[:2] == ("mmau", "conform") and status == 2)
    assert [page.name for page in ANSWERS if page.read_bytes() != (copy / page.name).read_bytes()] == []


@EVERY_ANSWER
def test_shares_in_the_text_stand_in_the_page_s_tables(document: Path) -> None:
    """A percentage that the text repeats cannot outlive the table that it comes from."""
    by_hand, tables = parts(document)
    assert [share for share in re.findall(r"\d[\d.]* %", by_hand) if share not in tables] == []
