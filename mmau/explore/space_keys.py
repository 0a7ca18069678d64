"""Keys and values of the tables [fixed] and [sweep] in the file of a design space; and checks of any of its tables."""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any

from golden.arithmetic.formats import FIELDS
from golden.checks import check_int, check_name, listed, unknown
from golden.text import value_as_text
from golden.units.controls import controls_from_table
from mmau.explore.design_space import CONTROLS, OWN_FORMATS, TABLES, Axis, Choice, Given, Value, known_keys, table_keys

RANGE = ("from", "to", "step")
"""Keys of a range: integers, both ends included; the default step is 1."""

MOST_VALUES = 10_000
"""Largest number of values of one key."""


def axes_of(sweep: Mapping[str, Any], operation: str | None) -> tuple[Axis, ...]:
    """The axes of the table [sweep], in its order.

    Args:
        operation: the operation of all units; None where the operation is swept.

    Raises:
        ValueError: a key is unknown, or values are invalid.
    """
    known = [*known_keys(operation), *TABLES]
    check_keys("[sweep] ", [key for key in sweep if not tables_of(sweep[key])], [*known, OWN_FORMATS])
    found = []
    for key, given in sweep.items():
        if tables_of(given):
            if key in known and not all("name" in each for each in given):  # a key of a later version may be somebody's name
                raise ValueError(f"[sweep] {key} must hold values; tables go under a name that is no key of a unit")
            found.append(Axis(key, _choices(f"sweep.{key}", given, operation)))
            continue
        if key == OWN_FORMATS:
            found += [
                Axis(flat, _values(f"[sweep] {flat}", values)) for flat, values in _own_formats("sweep", given).items()
            ]
            continue
        if key not in TABLES:
            found.append(Axis(key, _values(f"[sweep] {key}", given)))
            continue
        if not isinstance(given, dict):
            raise ValueError(f"[sweep.{key}] must be a table of keys to values, got {given!r}")
        check_keys(f"[sweep.{key}] ", given, table_keys(key))
        found += [Axis(f"{key}.{inner}", _values(f"[sweep.{key}] {inner}", values)) for inner, values in given.items()]
    return tuple(found)


def _choices(where: str, given: Sequence[dict[str, Any]], operation: str | None) -> tuple[Choice, ...]:
    """Tables of keys that vary together."""
    found = []
    for table in given:
        keys = flat_keys(where, {key: value for key, value in table.items() if key != "name"}, operation)
        if not keys:
            raise ValueError(f"[{where}] must set a key of the unit in each table, got {table!r}")
        name = table.get("name", "-".join(value_as_text(value) for value in keys.values() if not isinstance(value, tuple)))
        check_name(f"[{where}] name", name)
        found.append(Choice(name, tuple(keys.items())))
    check_distinct(f"[{where}]: names", [choice.name for choice in found])
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


def tables_of(given: Any) -> list[dict[str, Any]]:
    """The tables of a key of [sweep] that stands for several keys; none where it is a key of the unit."""
    return given if isinstance(given, list) and given and all(isinstance(each, dict) for each in given) else []


def flat_keys(where: str, table: Mapping[str, Any], operation: str | None) -> dict[str, Given]:
    """Keys of a unit's file, flat, each with one value."""
    check_keys(f"[{where}] ", table, [*known_keys(operation), *TABLES, OWN_FORMATS, CONTROLS])
    found: dict[str, Given] = {}
    for key, value in table.items():
        if key == OWN_FORMATS:
            found |= {flat: _value(f"[{where}] {flat}", each) for flat, each in _own_formats(where, value).items()}
        elif key == CONTROLS:
            try:
                found[key] = controls_from_table(sub_table(where, table, key))
            except ValueError as error:
                raise ValueError(f"[{where}] {error}") from error
        elif key in TABLES:
            inner = sub_table(where, table, key, table_keys(key))
            found |= {f"{key}.{name}": _value(f"[{where}.{key}] {name}", each) for name, each in inner.items()}
        else:
            found[key] = _value(f"[{where}] {key}", value)
    return found


def _own_formats(where: str, given: Any) -> dict[str, Any]:
    """What is given for each key of formats of a unit's own, by flat key."""
    if not isinstance(given, dict) or not all(isinstance(form, dict) for form in given.values()):
        raise ValueError(f"[{where}.{OWN_FORMATS}] must have a table for each format, got {given!r}")
    for name, form in given.items():
        check_keys(f"[{where}.{OWN_FORMATS}.{name}] ", form, list(FIELDS))
    return {f"{OWN_FORMATS}.{name}.{key}": value for name, form in given.items() for key, value in form.items()}


def _value(where: str, value: Any) -> Value:
    if not isinstance(value, (int, str)):
        raise ValueError(f"{where} must be one integer, text, true or false, got {value!r}; several go into [sweep]")
    return value


def sub_table(where: str, table: Mapping[str, Any], key: str, known: Collection[str] | None = None) -> dict[str, Any]:
    """The table under a key, empty where there is none.

    Args:
        where: the table that contains the key, for messages; empty for the file itself.
        known: the keys that it may have; None for any.

    Raises:
        ValueError: the value is no table, or it has an unknown key.
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
        ValueError: the value is no list of texts, or has one text twice.
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


def number(where: str, value: Any, low: float = float("-inf"), high: float = float("inf")) -> float:
    """A finite number.

    Raises:
        ValueError: it is something else, below `low` or above `high`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (low <= value <= high and abs(value) < inf):
        least = "" if low == float("-inf") else f" of at least {low:g}"
        least += "" if high == float("inf") else f" and at most {high:g}"
        raise ValueError(f"{where} must be a number{least}, got {value!r}")
    return value
