"""Coverage files, which accumulate over runs: JSON, with every bin by its name."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cosim.coverage.counts import Counts, Model, merged
from cosim.coverage.coverage_model import covergroups
from golden.files import held, write_atomically

FORMAT = "mmau coverage 1"
"""The format name in every coverage file; it changes with the contents of the format."""

MAX_BYTES = 1 << 28
"""Largest coverage file that is read (bytes); a file of the whole catalogue has a few million."""


def to_text(counts: Iterable[Counts]) -> str:
    """The text of a file."""
    models = [counted.model.as_dict() | {"rows": counted.rows, "covergroups": _named(counted)} for counted in counts]
    return json.dumps({"format": FORMAT, "models": models}, indent=1) + "\n"


def _named(counts: Counts) -> dict[str, dict[str, int]]:
    groups = covergroups(counts.model)
    return {group.name: dict(zip(group.bins, counts.hits[group.name], strict=True)) for group in groups}


def from_text(text: str, name: str) -> tuple[Counts, ...]:
    """Read the counts from the text of a coverage file.

    Args:
        name: the file's name, for messages.

    Raises:
        ValueError: the text is not a coverage file, or its bins are not those of these models.
    """
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise ValueError(f"it does not say that it is {FORMAT!r}")
        return merged([_counts(each) for each in table["models"]])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{name} must hold coverage that this version wrote: {error}; take another file") from error


def _counts(table: Mapping[str, Any]) -> Counts:
    model = Model.from_dict(table)
    hits = {}
    for group in covergroups(model):
        found = table["covergroups"][group.name]
        if list(found) != group.bins:
            raise ValueError(f"the bins of {group.name} are not those of {model}")
        hits[group.name] = [_count(count) for count in found.values()]
    return Counts(model, _count(table["rows"]), hits)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"a count must be an integer of at least 0, got {value!r}")
    return value


def read(path: Path) -> tuple[Counts, ...]:
    """The counts of a file; none if the file does not exist.

    Raises:
        ValueError: it holds something else. OSError: it cannot be read.
    """
    if not path.exists():
        return ()
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} must hold coverage of at most {MAX_BYTES:,} bytes, but is larger; take another file")
    return from_text(content.decode("utf-8", errors="replace"), str(path))


def add(path: Path, counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """Add counts to the counts in a file, and return the sums. Other processes may do so at the same time.

    Raises:
        ValueError: it holds something else. OSError: it cannot be read or written.
    """
    with held(path.resolve().parent):
        together = merged([*read(path), *counts])
        write_atomically(path, to_text(together).encode())
    return together
