"""Tables between marks: replaced where they stand, and refused where the marks or the names are wrong."""

import re
from pathlib import Path

import pytest

from studies.answers.__main__ import main, names, with_tables

PAGE = "# Why?\n\n<!-- table one -->\n\n| old |\n\n<!-- end of table -->\n\ntext\n"


def test_table_is_replaced_and_the_text_stays() -> None:
    new = with_tables(PAGE, {"one": lambda: "| new |"})
    assert new == PAGE.replace("old", "new")
    assert with_tables(new, {"one": lambda: "| new |"}) == new
    assert names(PAGE) == ["one"]


@pytest.mark.attack("documentation")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAGE.replace("table one", "table two"), "a table must be one of one; got two"),
        (
            PAGE.replace("<!-- end of table -->", ""),
            "a table must stand between `table NAME` and `end of table`, got 1 marks of 0 tables",
        ),
        (
            PAGE.replace("table one", "table On e"),
            "a table must stand between `table NAME` and `end of table`, got 2 marks of 0 tables",
        ),
    ],
)
def test_wrong_marks_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        with_tables(text, {"one": lambda: "| new |"})


def test_page_in_a_folder_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("table one", "table vortex"), encoding="utf-8")
    main([str(tmp_path)])
    assert "old" not in page.read_text(encoding="utf-8")
    assert "Vortex TFR" in page.read_text(encoding="utf-8")
