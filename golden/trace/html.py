"""A trace as HTML, in the style of every page of the project (golden.html)."""

from collections.abc import Sequence

from golden import html
from golden.html import Markup, element
from golden.trace.layout import BitRow, Block, Facts, Heading, Picture, Table


def page(title: str, blocks: Sequence[Block]) -> str:
    """A complete page. The first block, a heading, is its title."""
    return html.page(title, body(blocks[1:]))


def body(blocks: Sequence[Block], below: int = 0) -> Markup:
    """The trace as a fragment for a page with `golden.html.STYLE`.

    Args:
        below: level of the page's heading above the fragment.
    """
    return element("section", *(_element(block, below) for block in blocks))


def _element(block: Block, below: int) -> Markup:
    match block:
        case Heading(words, level):
            return element(f"h{level + below}", words)
        case Facts(lines):
            rows = (element("tr", element("th", word, scope="row"), element("td", _code(what))) for word, what in lines)
            return html.wide(element("table", *rows), ", ".join(word for word, _ in lines))
        case Table(header, rows):
            return html.table(header, [(row[0], *map(_code, row[1:])) for row in rows], f"{header[0]}s")
        case Picture(rows):
            cells = [(row.name, row.sign, _bits(row), row.note) for row in rows]
            return html.table(("aligned", "sign", "bits | cut off", ""), cells, "aligned terms, and their total")


def _code(text: str) -> Markup:
    return element("code", text)


def _bits(row: BitRow) -> Markup:
    """A bit picture: leading zeros are pale, and the bits that alignment dropped follow a bar."""
    zeros = len(row.bits) - len(row.bits.lstrip("·."))
    shown = [element("span", row.bits[:zeros], class_="soft"), row.bits[zeros:]]
    cut = [element("span", f"|{row.cut}", class_="failed")] if row.cut else []
    return element("code", *shown, *cut, style="white-space: pre")
