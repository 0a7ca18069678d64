"""Text for people."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, two spaces apart."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def mmau_version() -> str:
    """The project's version, where it is installed."""
    try:
        return version("mmau")
    except PackageNotFoundError:
        return "(not installed)"
