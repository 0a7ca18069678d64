"""The keys of a unit, flat: those of its operation, and `implementation.…` and `chain.…` of its tables."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from golden.chain import ChainTable
from golden.operations import OPERATIONS, Operation
from golden.unit import PLACEMENT, Implementation, Unit

TABLES: dict[str, type[Implementation] | type[ChainTable]] = {"implementation": Implementation, "chain": ChainTable}
"""The tables of a unit's file."""

Value = int | float | str | bool


def known_keys(operation: str | None) -> list[str]:
    """The keys that a unit of an operation may have beside its tables; of any operation where None."""
    operations = OPERATIONS.values() if operation is None else [OPERATIONS[operation]]
    return ["operation", *dict.fromkeys(key for each in operations for key in each.unit_keys())]


def table_keys(table: str) -> list[str]:
    """The keys of one of `TABLES`."""
    return [each.name for each in fields(TABLES[table])]


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """A unit's file as `golden.unit_file` reads it, of flat keys."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        table, _, inner = key.rpartition(".")
        (found.setdefault(table, {}) if table else found)[inner] = value
    return found


def parameters(unit: Unit, always: Collection[str] = ()) -> dict[str, Value]:
    """The parameters of a unit by flat keys; of its chain those that are not the default, and those named in `always`."""
    operation: Operation = unit.operation
    found = {key: _plain(getattr(operation, key)) for key in operation.unit_keys()}
    found |= {"a": unit.a.name, "b": unit.b.name}
    built = unit.implementation
    placed = {key: _listed(getattr(built, key)) for key, default in PLACEMENT.items() if getattr(built, key) != default}
    others = {key: getattr(built, key) for key in table_keys("implementation") if key not in PLACEMENT}
    found |= {f"implementation.{key}": value for key, value in {**others, **placed}.items()}
    for each in fields(ChainTable):
        value = getattr(unit.chain, each.name)
        if value is not None and (value != each.default or f"chain.{each.name}" in always):
            found[f"chain.{each.name}"] = value
    return {"operation": operation.name, **found}


def _listed(value: Any) -> Value:
    return " ".join(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Value:
    return value if isinstance(value, int) else str(value)
