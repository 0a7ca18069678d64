"""Tables, lists and documents in Markdown."""

import pytest

from mmau.report.markdown import bullets, document, table


def test_cell_with_a_bar_or_two_lines_stays_one_cell() -> None:
    assert table(("x",), [("a|b",), ("c\nd",)]) == "| x |\n| --- |\n| a\\|b |\n| c d |"


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    assert table(("x", "n"), [("a", "1")], numbers=(1,)).splitlines()[1] == "| --- | ---: |"


@pytest.mark.parametrize("row", [("a",), ("a", "b", "c")])
def test_row_of_another_length_is_refused(row: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=rf"^each row of a table must have the header's 2 cells, got {len(row)}: \('a'"):
        table(("x", "y"), [row])


def test_list_without_items_says_none() -> None:
    assert bullets(["a", "b"]) == "- a\n- b"
    assert bullets([]) == "None."


def test_parts_of_a_document_are_apart_and_empty_ones_absent() -> None:
    assert document("T", "one", "", "two") == "# T\n\none\n\ntwo\n"
