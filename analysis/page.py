"""What the pages of docs/analysis are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PAPER = "P. Xie et al., *Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units* (arXiv 2511.10909)"
"""What the pages reproduce; "the paper" in them."""


@dataclass(frozen=True)
class Page:
    """The files of one page: name to content. `name.md` is the page, the others are what it shows."""

    files: Mapping[str, bytes]


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def document(title: str, target: str, *parts: str) -> bytes:
    """A page in Markdown that says which command writes it."""
    head = f"# {title}\n\n`make {target}` writes this page."
    return ("\n\n".join([head, *parts]) + "\n").encode()
