"""The keys that a space sweeps, each with its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golden.checks import check_int, listed
from golden.text import value_as_text
from mmau.explore.space.keys import TABLES, Value, known_keys, table_keys
from mmau.explore.space.tables import check_distinct, check_keys

RANGE = ("from", "to", "step")
"""Keys of a range: integers, both ends included; the default step is 1."""

MOST_VALUES = 10_000
"""Of one key."""


@dataclass(frozen=True)
class Axis:
    """A key that is swept.

    Attributes:
        key: flat, such as `implementation.stages`. values: in the order of the file.
    """

    key: str
    values: tuple[Value, ...]

    @property
    def label(self) -> str:
        """The key without its table."""
        return self.key.rpartition(".")[2]


def axes_of(sweep: Mapping[str, Any], operation: str | None) -> tuple[Axis, ...]:
    """The axes of the table [sweep], in its order.

    Args:
        operation: that of all units; None where it is swept itself.

    Raises:
        ValueError: a key is unknown, or values are invalid.
    """
    check_keys("[sweep] ", sweep, [*known_keys(operation), *TABLES])
    found = []
    for key, given in sweep.items():
        if key not in TABLES:
            found.append(Axis(key, _values(f"[sweep] {key}", given)))
            continue
        if not isinstance(given, dict):
            raise ValueError(f"[sweep.{key}] must be a table of keys to values, got {given!r}")
        check_keys(f"[sweep.{key}] ", given, table_keys(key))
        found += [Axis(f"{key}.{inner}", _values(f"[sweep.{key}] {inner}", values)) for inner, values in given.items()]
    return tuple(found)


def _values(where: str, given: Any) -> tuple[Value, ...]:
    if isinstance(given, dict):
        return _range(where, given)
    if not isinstance(given, list) or not given:
        raise ValueError(f"{where} must be a list of values or a range {{from = …, to = …}}, got {given!r}")
    kinds = (int, float, str) if where.endswith("] clock_ns") else (int, str)
    for value in given:
        if not isinstance(value, kinds):
            raise ValueError(f"{where} must hold integers, texts, true and false, got {value!r}")
    if len(given) > MOST_VALUES:
        raise ValueError(f"{where} must have at most {MOST_VALUES} values, got {len(given)}")
    check_distinct(where, given)
    check_distinct(where, [value_as_text(value) for value in given])  # in a point's name 2 and "2" are the same
    return tuple(given)


def _range(where: str, given: Mapping[str, Any]) -> tuple[Value, ...]:
    check_keys(f"{where}: ", given, RANGE)
    missing = [key for key in RANGE[:2] if key not in given]
    if missing:
        raise ValueError(f"{where}: a range needs {listed(RANGE[:2])}, and {listed(missing)} is missing")
    limit = 1 << 31
    for key in given:
        try:
            check_int(f"{where}: {key}", given[key], 1 if key == "step" else -limit, limit)
        except TypeError as error:
            raise ValueError(error) from error
    first, last, step = given["from"], given["to"], given.get("step", 1)
    if last < first:
        raise ValueError(f"{where}: to must be at least from = {first}, got {last}")
    if (last - first) // step >= MOST_VALUES:
        raise ValueError(f"{where} must have at most {MOST_VALUES} values, got {(last - first) // step + 1}")
    return tuple(range(first, last + 1, step))
