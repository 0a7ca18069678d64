"""A trace as HTML: one page without anything from elsewhere, light and dark."""

from collections.abc import Sequence
from html import escape

from golden.trace.layout import BitRow, Block, Facts, Heading, Picture, Table

STYLE = """
:root { color-scheme: light dark; --line: #8886; --cut: #c0392b; --dim: #777; }
@media (prefers-color-scheme: dark) { :root { --cut: #ff8a75; --dim: #999; } }
.trace { font-family: system-ui, sans-serif; line-height: 1.4; max-width: 100%; }
.trace table { border-collapse: collapse; margin: .5em 0; display: block; overflow-x: auto; }
.trace th, .trace td { border-bottom: 1px solid var(--line); padding: .15em .6em; text-align: left; white-space: pre; }
.trace td, .trace dd { font-family: ui-monospace, monospace; font-size: .9em; }
.trace dl { display: grid; grid-template-columns: max-content 1fr; gap: .15em 1em; margin: .5em 0; }
.trace dt { font-weight: 600; }
.trace dd { margin: 0; overflow-wrap: anywhere; }
.trace .cut { color: var(--cut); }
.trace .dim { color: var(--dim); }
.trace tr.total td { border-top: 2px solid currentColor; }
"""


def page(title: str, blocks: Sequence[Block]) -> str:
    """A whole page."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body(blocks)}</main>\n</body>\n</html>\n"
    )


def body(blocks: Sequence[Block]) -> str:
    """The trace alone."""
    return '<section class="trace">\n' + "".join(_element(block) for block in blocks) + "</section>\n"


def _element(block: Block) -> str:
    match block:
        case Heading(words, level):
            return f"<h{level}>{escape(words)}</h{level}>\n"
        case Facts(lines):
            items = "".join(f"<dt>{escape(word)}</dt><dd>{escape(what)}</dd>\n" for word, what in lines)
            return f"<dl>\n{items}</dl>\n"
        case Table(header, rows):
            head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
            return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(map(_row, rows))}</tbody>\n</table>\n"
        case Picture(rows):
            *terms, total = (_bit_row(row) for row in rows)
            head = "".join(f'<th scope="col">{cell}</th>' for cell in ("aligned", "sign", "bits | cut off", ""))
            last = f'<tr class="total">{total}</tr>\n'
            body_rows = "".join(f"<tr>{row}</tr>\n" for row in terms)
            return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body_rows}{last}</tbody>\n</table>\n"


def _row(cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n"


def _bit_row(row: BitRow) -> str:
    zeros = len(row.bits) - len(row.bits.lstrip("·."))
    bits = f'<span class="dim">{escape(row.bits[:zeros])}</span>{escape(row.bits[zeros:])}'
    cut = f'<span class="cut">|{escape(row.cut)}</span>' if row.cut else ""
    return f"<td>{escape(row.name)}</td><td>{row.sign}</td><td>{bits}{cut}</td><td>{escape(row.note)}</td>"
