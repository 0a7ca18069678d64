"""Markdown: tables, lists and documents."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    r"""A table. A cell may hold any text: bars are escaped, and the end of a line becomes a space.

    >>> print(table(("code", "bits"), [("a|b", "8")], numbers=(1,)))
    | code | bits |
    | --- | ---: |
    | a\|b | 8 |

    Args:
        numbers: columns that are aligned to the right.

    Raises:
        ValueError: a row is shorter or longer than the header.
    """
    lines = [header, ["---:" if column in numbers else "---" for column in range(len(header))]]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"each row of a table must have the header's {len(header)} cells, got {len(row)}: {row!r}")
        lines.append([cell.replace("|", "\\|").replace("\n", " ") for cell in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bullets(items: Iterable[str]) -> str:
    """A list; `None.` where there is nothing to list."""
    return "\n".join(f"- {item}" for item in items) or "None."


def paragraphs(*parts: str) -> str:
    """Each part that is not empty, with blank lines between them."""
    return "\n\n".join(filter(None, parts))


def document(title: str, *parts: str) -> str:
    """A page: its title, then its parts as `paragraphs`."""
    return paragraphs(f"# {title}", *parts) + "\n"
