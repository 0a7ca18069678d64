"""Coverage in a file, to which further runs are added: JSON, every bin by its name."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cosim.coverage.counts import Counts, Model, merged
from cosim.coverage.model import covergroups

FORMAT = "mmau coverage 1"
"""What a file says of itself; it changes with what a file holds."""


def to_text(counts: Iterable[Counts]) -> str:
    """The text of a file."""
    models = [counted.model.as_dict() | {"rows": counted.rows, "covergroups": _named(counted)} for counted in counts]
    return json.dumps({"format": FORMAT, "models": models}, indent=1) + "\n"


def _named(counts: Counts) -> dict[str, dict[str, int]]:
    groups = covergroups(counts.model)
    return {group.name: dict(zip(group.bins, counts.hits[group.name], strict=True)) for group in groups}


def from_text(text: str, name: str) -> tuple[Counts, ...]:
    """The counts that a file holds.

    Args:
        name: of the file, for messages.

    Raises:
        ValueError: it holds something else, or other bins than these models have.
    """
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise ValueError(f"it does not say that it is {FORMAT!r}")
        return merged([_counts(each) for each in table["models"]])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
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
    """What a file holds; nothing where there is none.

    Raises:
        ValueError: it holds something else. OSError: it cannot be read.
    """
    return from_text(path.read_text(encoding="utf-8"), str(path)) if path.exists() else ()
