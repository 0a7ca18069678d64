"""Unit files in TOML: reading and writing a `Unit`."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from golden.arithmetic.conversion import rounding_to, spelled
from golden.arithmetic.formats import E8M13, FIELDS, FORMATS, FP16, Format, fields_of, format_from_fields
from golden.arithmetic.rounding import MODES
from golden.chains.chain import CONVERTED, ChainTable
from golden.chains.sum_chain import SumTable
from golden.checks import check_choice, check_name, listed, unknown
from golden.files import read_toml
from golden.operations import OPERATIONS, Operation
from golden.operations.base import format_of
from golden.units.controls import controls_from_table
from golden.units.unit import Array, Implementation, Unit


def load_unit(path: str | Path) -> Unit:
    """Read a unit from a TOML file (docs/numerics.md, section 13, and `Implementation` describe its keys).

    Raises:
        ValueError: not TOML, or a key that is unknown, missing or out of range; the message names key, rule and value.
        OSError: the file cannot be read.
    """
    table = read_toml(path)
    try:
        if "include" in table:
            table = included(table, Path(path).parent)
        return unit_from_table(table)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def included(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The table of a unit file with the formats of the file that its key `include` names, a path from its folder.

    Raises:
        ValueError: another value of the key, a file with other tables than [formats], or a format that both files have.
        OSError: the file cannot be read.
    """
    own, name = dict(table), table["include"]
    check_name("include", own.pop("include"))
    other = read_toml(folder / name)
    formats, more = own.get("formats", {}), other.pop("formats", None)
    if not isinstance(more, dict) or other:
        raise ValueError(f"include must be a file with tables [formats.NAME] alone; {name} has {listed(other) or 'none'}")
    for twice in sorted(formats.keys() & more.keys()):
        raise ValueError(f"[formats.{twice}] is both in the unit and in {name}: leave one out")
    return own | {"formats": {**more, **formats}}


def own_formats(table: Any) -> dict[str, Format]:
    """The formats of the tables [formats.NAME] of a unit file.

    Raises:
        ValueError, TypeError: a table that describes no format, or golden's name of another format.
    """
    if not isinstance(table, dict):
        raise ValueError(f"formats must hold tables [formats.NAME], got {table!r}")
    found = {}
    for name, given in table.items():
        if not isinstance(given, dict):
            raise ValueError(f"formats must hold tables [formats.NAME], got {name} = {given!r}")
        for key in given:
            if key not in FIELDS:
                raise ValueError(f"[formats.{name}] {unknown('key', key, list(FIELDS))}")
        if missing := [key for key, needed in FIELDS.items() if needed and key not in given]:
            raise ValueError(f"[formats.{name}] is missing {listed(missing)}; its keys are {listed(FIELDS)}")
        found[name] = format_from_fields(name, given)
        if name in FORMATS and FORMATS[name] != found[name]:
            raise ValueError(f"[formats.{name}]: golden has another format of that name; choose a name of your own")
    return found


def _with_formats(keys: dict[str, Any], formats: dict[str, Format]) -> dict[str, Any]:
    """Keys of an operation, with the formats that they name in place of the names."""
    found = {key: formats.get(value, value) if isinstance(value, str) else value for key, value in keys.items()}
    found |= {key: keys[key] for key in keys.keys() - {"a", "b", "c", "scale"}}
    mode, _, to = str(keys.get("rho", "")).partition("-")
    if mode in MODES and to in formats:
        found["rho"] = spelled(rounding_to(mode, formats[to]))
    return found


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
    operation = operation_from_table(keys)
    return Unit(
        name=name, operation=operation, implementation=Implementation(**implementation), chain=chain, converted=converted,
        sums=sums, controls=controls_from_table(controls), array=array,
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
    keys = _with_formats(keys, own_formats(keys.pop("formats", {})))
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
    for form in formats_of(unit.operation):
        lines += ["", f"[formats.{_quoted(form.name)}]"]
        lines += [f"{key} = {_toml_value(value)}" for key, value in fields_of(form).items()]
    lines += ["", "[implementation]"]
    lines += [f"{key} = {_toml_value(value)}" for key, value in unit.implementation.as_table().items()]
    if unit.array is not None:
        lines += ["", "[array]", *(f"{key} = {_toml_value(value)}" for key, value in asdict(unit.array).items())]
    return "\n".join(lines) + "\n"


def formats_of(operation: Operation) -> list[Format]:
    """The formats of an operation that golden does not have by their names."""
    rho = operation.structure.rho
    named = (operation.a, operation.b, operation.c, operation.scale_format, None if rho is None else rho.rounding_format)
    own = [form for form in named if form is not None and form not in (FORMATS.get(form.name), E8M13)]
    return list({form.name: form for form in own}.values())


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)} = {_toml_value(inner)}' for key, inner in value.items())}}}"
    return str(value) if isinstance(value, (int, float)) else _quoted(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
