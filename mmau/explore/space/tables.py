"""Tables of a space's file: what may stand in them, and the messages where something else does."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from golden.checks import listed, unknown


def sub_table(where: str, table: Mapping[str, Any], key: str, known: Collection[str] | None = None) -> dict[str, Any]:
    """The table under a key, empty where there is none.

    Args:
        where: the table that it stands in, for messages; empty for the file itself.
        known: the keys that it may have; None for any.

    Raises:
        ValueError: something else stands there, or it has another key.
    """
    found = table.get(key, {})
    name = f"{where}.{key}" if where else key
    if not isinstance(found, dict):
        raise ValueError(f"{name} must be a table, got {found!r}")
    if known is not None:
        check_keys(f"[{name}] ", found, known)
    return dict(found)


def check_keys(where: str, table: Collection[str], known: Collection[str]) -> None:
    """Raise ValueError unless each key of a table is one of those known."""
    for key in table:
        if key not in known:
            raise ValueError(f"{where}{unknown('key', key, list(known), shown=64)}")


def texts(where: str, value: Any) -> tuple[str, ...]:
    """A list of texts, none of them twice.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{where} must be a list of texts, got {value!r}")
    check_distinct(where, value)
    return tuple(value)


def check_distinct(where: str, values: Sequence[Any]) -> None:
    """Raise ValueError where two values of a list are the same."""
    for number, value in enumerate(values):
        if any(value == other and type(value) is type(other) for other in values[:number]):
            raise ValueError(f"{where} must have each value once, got {value!r} twice in {listed(map(repr, values))}")


def number(where: str, value: Any, low: float = float("-inf")) -> float:
    """A finite number.

    Raises:
        ValueError: it is something else, or below `low`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value < float("inf"):
        least = "" if low == float("-inf") else f" of at least {low:g}"
        raise ValueError(f"{where} must be a number{least}, got {value!r}")
    return value
