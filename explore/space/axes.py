"""The keys that a space sweeps, each with its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explore.space.keys import TABLES, Value, known_keys, shown, table_keys
from explore.space.tables import check_distinct, check_keys
from golden.checks import check_int, listed

RANGE = ("from", "to", "step")
"""Keys of a range: integers, both ends included, one apart where no step is said."""

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
    """The axes that the table [sweep] says, in its order.

    Args:
        operation: that of all units; None where it is swept itself.

    Raises:
        ValueError: an unknown key, or values that are none.
    """
    check_keys("[sweep] ", sweep, [*known_keys(operation), *TABLES])
    found = []
    for key, said in sweep.items():
        if key not in TABLES:
            found.append(Axis(key, _values(f"[sweep] {key}", said)))
            continue
        if not isinstance(said, dict):
            raise ValueError(f"[sweep.{key}] must be a table of keys to values, got {said!r}")
        check_keys(f"[sweep.{key}] ", said, table_keys(key))
        found += [Axis(f"{key}.{inner}", _values(f"[sweep.{key}] {inner}", values)) for inner, values in said.items()]
    return tuple(found)


def _values(where: str, said: Any) -> tuple[Value, ...]:
    if isinstance(said, dict):
        return _range(where, said)
    if not isinstance(said, list) or not said:
        raise ValueError(f"{where} must be a list of values or a range {{from = …, to = …}}, got {said!r}")
    for value in said:
        if not isinstance(value, (int, str)):
            raise ValueError(f"{where} must hold integers, texts, true and false, got {value!r}")
    if len(said) > MOST_VALUES:
        raise ValueError(f"{where} must have at most {MOST_VALUES} values, got {len(said)}")
    check_distinct(where, said)
    check_distinct(where, [shown(value) for value in said])  # as points are called by them: 2 and "2" are one name
    return tuple(said)


def _range(where: str, said: Mapping[str, Any]) -> tuple[Value, ...]:
    check_keys(f"{where}: ", said, RANGE)
    missing = [key for key in RANGE[:2] if key not in said]
    if missing:
        raise ValueError(f"{where}: a range needs {listed(RANGE[:2])}, and {listed(missing)} is missing")
    limit = 1 << 31
    for key in said:
        try:
            check_int(f"{where}: {key}", said[key], 1 if key == "step" else -limit, limit)
        except TypeError as error:
            raise ValueError(error) from error
    first, last, step = said["from"], said["to"], said.get("step", 1)
    if last < first:
        raise ValueError(f"{where}: to must be at least from = {first}, got {last}")
    if (last - first) // step >= MOST_VALUES:
        raise ValueError(f"{where} must have at most {MOST_VALUES} values, got {(last - first) // step + 1}")
    return tuple(range(first, last + 1, step))
