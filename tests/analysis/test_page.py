"""What pages are made of."""

from analysis.page import document, markdown_table


def test_bars_in_cells_do_not_split_them() -> None:
    assert markdown_table(("x",), [("a|b",)]) == "| x |\n| --- |\n| a\\|b |"


def test_document_says_which_target_writes_it() -> None:
    assert document("T", "analysis-x", "one", "two") == b"# T\n\n`make analysis-x` writes this page.\n\none\n\ntwo\n"
