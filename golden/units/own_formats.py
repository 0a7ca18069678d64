"""Formats of a unit's own: the tables [formats.NAME] of a unit file, and the files that it names."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.arithmetic.coded_format import CodedFormat, IntegerElement, table_format, values_of
from golden.arithmetic.conversion import rounding_to, spelled
from golden.arithmetic.formats import E8M13, FIELDS, FORMATS, Format, fields_of, format_from_fields, named_integer
from golden.arithmetic.integer_format import IntegerFormat, integer
from golden.arithmetic.rounding import MODES
from golden.checks import check_name, listed, unknown
from golden.files import read_toml
from golden.operations import Operation

INTEGER_FIELDS = {"bits": True, "fraction": False, "signed": False}
TABLE_FIELDS = {"values": True}
"""The keys of an integer, and of a format by table, and whether each must be given; of one with fields: `FIELDS`."""

HEADER = ["code", "value"]
"""The first line of a file of values, which may be absent."""


def with_files(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The table of a unit file with the formats of the files that it names: `include`, and `table` of a format.

    Raises:
        ValueError: as `included` and `values_from`. OSError: a file cannot be read.
    """
    table = included(table, folder) if "include" in table else table
    if not isinstance(table.get("formats"), dict):
        return table
    return table | {"formats": {name: _with_values(name, given, folder) for name, given in table["formats"].items()}}


def _with_values(name: str, given: Any, folder: Path) -> Any:
    """The keys of a format with the values of its file."""
    if not isinstance(given, dict) or "table" not in given:
        return given
    if "values" in given:
        raise ValueError(f"[formats.{name}] has both table and values, which say the same: leave one out")
    rest = {key: value for key, value in given.items() if key != "table"}
    check_name(f"table of [formats.{name}]", given["table"])
    return rest | {"values": values_from(name, folder / given["table"])}


def values_from(name: str, path: Path) -> list[str]:
    """The values of a file with a code and a value in each line, in the order of the codes.

    Raises:
        ValueError: a line without them, or a code that is given twice or not at all. OSError: the file cannot be read.
    """
    found: dict[int, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line and not line[0].startswith("#")]
    for line in lines[1:] if lines[:1] == [HEADER] else lines:
        try:
            code, value = int(line[0], 0), line[1]
            if len(line) != 2:
                raise ValueError
        except (ValueError, IndexError):
            raise ValueError(f"a line of {path.name} must be code,value, as 0x3c,1.5; got {','.join(line)!r}") from None
        if code in found:
            raise ValueError(f"[formats.{name}] {path.name} gives code {code:#x} twice: {found[code]} and {value}")
        found[code] = value
    table_format(name, found)
    return [found[code] for code in range(len(found))]


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
        keys, make = next((kind for first, kind in KINDS.items() if first in given), (FIELDS, format_from_fields))
        for key in given:
            if key not in keys:
                raise ValueError(f"[formats.{name}] {unknown('key', key, list(keys))}")
        if missing := [key for key, needed in keys.items() if needed and key not in given]:
            raise ValueError(f"[formats.{name}] is missing {listed(missing)}; its keys are {listed(keys)}")
        found[name] = make(name, given)
        named = named_integer(name)
        if named is not None and (named.bits, named.signed) != (given.get("bits"), given.get("signed", True)):
            raise ValueError(
                f"[formats.{name}]: {name} is the name of an integer of {named.bits} bits, "
                f"{'with' if named.signed else 'without'} a sign: make it one, or choose another name"
            )
        if name in FORMATS and FORMATS[name] != found[name]:
            raise ValueError(f"[formats.{name}]: golden has another format of that name; choose a name of your own")
    return found


def _integer(name: str, given: Mapping[str, Any]) -> IntegerFormat:
    return integer(name, **given)


def _by_table(name: str, given: Mapping[str, Any]) -> CodedFormat:
    values = given["values"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"values of [formats.{name}] must be a list of texts, one for each code; got {values!r}")
    return table_format(name, dict(enumerate(values)))


KINDS: dict[str, tuple[Mapping[str, bool], Any]] = {"bits": (INTEGER_FIELDS, _integer), "values": (TABLE_FIELDS, _by_table)}
"""A key that a format without fields has alone, to its keys and what makes it."""


def with_formats(keys: Mapping[str, Any], formats: Mapping[str, Format]) -> dict[str, Any]:
    """Keys of an operation, or of a choice among some, with the formats that they name in place of the names."""
    names = {key: keys[key] for key in ("a", "b", "c", "scale", "formats") if isinstance(keys.get(key), str)}
    found = {**keys, **{key: formats.get(name, name) for key, name in names.items()}}
    mode, _, to = str(keys.get("rho", "")).partition("-")
    if mode in MODES and to in formats:
        found["rho"] = spelled(rounding_to(mode, formats[to]))
    return found


def formats_of(*operations: Operation) -> list[Format]:
    """The formats of operations that golden does not have by their names."""
    found: dict[str, Format] = {}
    for each in operations:
        rho = each.structure.rho
        named = (each.a, each.b, each.c, each.scale_format, None if rho is None else rho.rounding_format)
        own = [form for form in named if form is not None and _stored(form) not in (FORMATS.get(form.name), E8M13)]
        found |= {form.name: form for form in own}
    return list(found.values())


def _stored(form: Format) -> Format:
    stored = form.integer if isinstance(form, IntegerElement) else form
    return FORMATS.get(form.name, stored) if stored == named_integer(form.name) else stored


def table_of(form: Format) -> dict[str, Any]:
    """The table [formats.NAME] of a format."""
    stored = _stored(form)
    if isinstance(stored, CodedFormat):
        return {"values": values_of(stored)}
    if isinstance(stored, IntegerFormat):
        return {key: getattr(stored, key) for key in INTEGER_FIELDS}
    return fields_of(stored)
