"""JSON tables that contain a digest of their own content, so that an edit by hand is noticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from golden.text import canonical

SEAL = "digest"
"""The key of a sealed table whose value is the digest of all other keys and values."""


def sealed(table: Mapping[str, Any]) -> str:
    """A table as JSON with a digest of itself, each element of a list on a separate line."""
    lines = [f" {json.dumps(key)}: {_lines(value)}" for key, value in {SEAL: seal_of(table), **table}.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"


def unsealed(text: str | bytes) -> dict[str, Any]:
    """The table that `sealed` wrote.

    Raises:
        ValueError: the text is something else, or was changed since.
    """
    try:
        table = json.loads(text)
        seal = table.pop(SEAL)
        is_whole = seal == seal_of(table)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no outcome with a digest of itself: {error!r}") from None
    if not is_whole:
        raise ValueError("its content does not match its digest: it was changed after it was written")
    return dict(table)


def seal_of(table: Mapping[str, Any]) -> str:
    """The digest of a table without its seal."""
    return hashlib.sha256(canonical(table)).hexdigest()
