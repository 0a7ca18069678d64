"""Text for reports and files: tables, the version, canonical JSON."""

import json
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns, two spaces apart."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def mmau_version() -> str:
    """The version of the installed project."""
    try:
        return version("mmau")
    except PackageNotFoundError:
        return "(not installed)"


BYTES = "surrogateescape"
"""Error handler of Python's codecs by which bytes that are not UTF-8, in a string of a design for instance, pass through
texts unchanged."""

SHOWN = 300
"""Largest number of characters of a value that a message shows in full."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Pattern of control characters, except line feed and tab, and of characters that turn the direction of text."""


def printable(text: str) -> str:
    """Make outside text safe for a terminal: control characters are replaced by Python's escapes, so that none takes
    effect."""
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def shortened(text: str) -> str:
    """Shorten a text longer than `SHOWN`: the number of omitted characters replaces its middle."""
    if len(text) <= SHOWN:
        return text
    tail = SHOWN // 4
    return f"{text[: SHOWN - tail]} … ({len(text) - SHOWN:,} more characters) … {text[-tail:]}"


def canonical(value: Any) -> bytes:
    """JSON with one spelling for each value.

    Raises:
        TypeError, ValueError: the value is not plain JSON, which has no NaN and no infinities.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def value_as_text(value: object) -> str:
    """The value of a key as a unit's file has it, without quotes: true and false in lower case."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_as_text, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def last_line(text: str, otherwise: str = "no message") -> str:
    """The last line of a text that is not blank; in a traceback that is the error."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), otherwise)
