"""A trace for a terminal."""

from collections.abc import Sequence

from golden.text import table
from golden.trace.layout import Block, Facts, Heading, Picture, Table

INDENT = "  "


def text(blocks: Sequence[Block]) -> str:
    """All blocks of a trace as lines of text."""
    return "\n".join(line for block in blocks for line in _lines(block)) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(words, level):
            return [words] if level == 1 else ["", words] if level == 2 else ["", f"{INDENT}{words}"]
        case Facts(lines):
            return [f"{INDENT}{word:<12} {what}".rstrip() for word, what in lines]
        case Table(header, rows):
            return [f"{INDENT}{line}" for line in table([header, *rows]).splitlines()]
        case Picture(rows):
            cells = [(r.name, r.sign, f"{r.bits}|{r.cut}" if r.cut else r.bits, r.note) for r in rows]
            *terms, total = table(cells).splitlines()
            rule = "-" * max(map(len, (*terms, total)))
            return [f"{INDENT}{line}" for line in (*terms, rule, total)]
