"""Unit files in TOML: reading and writing a `Unit`."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from golden.arithmetic.formats import FP16, Format
from golden.chains.chain import CONVERTED, ChainTable
from golden.chains.sum_chain import SumTable
from golden.checks import check_choice, check_name, listed, unknown
from golden.files import read_toml
from golden.operations import OPERATIONS, Operation
from golden.operations.base import format_of
from golden.units.controls import controls_from_table
from golden.units.own_formats import formats_of, own_formats, table_of, with_files, with_formats
from golden.units.unit import Array, Implementation, Unit


def load_unit(path: str | Path) -> Unit:
    """Read a unit from a TOML file (docs/numerics.md, section 13, and `Implementation` describe its keys).

    Raises:
        ValueError: not TOML, or a key that is unknown, missing or out of range; the message names key, rule and value.
        OSError: the file cannot be read.
    """
    table = read_toml(path)
    try:
        table = with_files(table, Path(path).parent)
        return unit_from_table(table)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def unit_from_table(table: dict[str, Any]) -> Unit:
    """The unit that a parsed TOML table describes.

    Raises:
        ValueError, TypeError: as `load_unit`, without the path.
    """
    keys = dict(table)
    name: Any = keys.pop("name", None)
    check_name("key name", name)
    implementation = _sub_table(keys, "implementation", Implementation)
    chain = ChainTable(**_sub_table(keys, "chain", ChainTable))
    converted = None
    if chain.convert is not None:
        converted = (_converted(keys, "a"), _converted(keys, "b"))
        keys |= {"a": FP16.name, "b": FP16.name}
    sums = SumTable(**_sub_table(keys, "sums", SumTable)) if "sums" in keys else None
    array = _array(_sub_table(keys, "array", Array)) if "array" in keys else None
    controls = keys.pop("controls", {})
    if not isinstance(controls, dict):
        raise ValueError(f"controls must be a table, got {controls!r}")
    formats = own_formats(keys.get("formats", {}))
    operation = operation_from_table(keys)
    return Unit(
        name=name, operation=operation, implementation=Implementation(**implementation), chain=chain, converted=converted,
        sums=sums, controls=controls_from_table(controls, formats), array=array,
    )  # fmt: skip


def _array(table: dict[str, Any]) -> Array:
    """The table `[array]`."""
    missing = [key for key in ("rows", "columns") if key not in table]
    if missing:
        raise ValueError(f"[array] is missing {listed(missing)}; an array of one element has 1 and 1")
    return Array(**table)


def _sub_table(
    keys: dict[str, Any], name: str, cls: type[Implementation] | type[ChainTable] | type[SumTable] | type[Array]
) -> dict[str, Any]:
    """Remove a sub-table from a unit file's keys and return it; empty if it is absent."""
    table = keys.pop(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a table, got {table!r}")
    allowed = {f.name for f in fields(cls)}
    for key in table:
        if key not in allowed:
            raise ValueError(f"[{name}] {unknown('key', key, sorted(allowed))}")
    return table


def _converted(keys: dict[str, Any], key: str) -> Format:
    """The format of a or b before it is converted to fp16."""
    if key not in keys:
        raise ValueError(f"a unit with [chain] convert is missing {key}; it must be one of {listed(CONVERTED)}")
    return format_of(key, keys[key], CONVERTED)


def operation_from_table(table: dict[str, Any]) -> Operation:
    """The operation whose name is under `operation` and whose parameters are the other keys.

    Raises:
        ValueError, TypeError: an unknown, missing or out-of-range key.
    """
    keys = dict(table)
    keys = with_formats(keys, own_formats(keys.pop("formats", {})))
    kind = keys.pop("operation", None)
    check_choice("operation", kind, OPERATIONS)
    return OPERATIONS[str(kind)].of_keys(keys, str(kind))


def unit_to_toml(unit: Unit) -> str:
    """The unit as a TOML text that `load_unit` reads back to an equal unit."""
    lines = [f"name = {_quoted(unit.name)}", f'operation = "{unit.operation.name}"']
    stored = {name: getattr(unit, name).name for name in "ab" if name in unit.operation.operands}
    lines += [f"{key} = {_toml_value(value)}" for key, value in (unit.operation.parameters() | stored).items()]
    if changed := unit.chain.changed():
        lines += ["", "[chain]", *(f"{key} = {_toml_value(value)}" for key, value in changed.items())]
    if unit.sums is not None:
        lines += ["", "[sums]", *(f"{key} = {_toml_value(value)}" for key, value in unit.sums.as_table().items())]
    if unit.controls:
        lines += ["", "[controls]"]
        lines += [f"{_quoted(control.port)} = {_toml_value(control.as_table())}" for control in unit.controls]
    for form in formats_of(unit.operation, *(choice.unit.operation for choice in unit.choices)):
        lines += ["", f"[formats.{_quoted(form.name)}]"]
        lines += [f"{key} = {_toml_value(value)}" for key, value in table_of(form).items()]
    lines += ["", "[implementation]"]
    lines += [f"{key} = {_toml_value(value)}" for key, value in unit.implementation.as_table().items()]
    if unit.array is not None:
        lines += ["", "[array]", *(f"{key} = {_toml_value(value)}" for key, value in unit.array.as_table().items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)} = {_toml_value(inner)}' for key, inner in value.items())}}}"
    return str(value) if isinstance(value, (int, float)) else _quoted(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
