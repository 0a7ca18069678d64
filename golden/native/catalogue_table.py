"""Writer of the C interface's tables, src/catalogue.inc and src/units.inc: `python -m golden.native.catalogue_table`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from golden.arithmetic.flags import BESIDE_NANS, TININESSES
from golden.arithmetic.formats import E8M13, FORMATS, Format
from golden.catalogue import instructions
from golden.chains.chain import RUNS
from golden.files import write_atomically
from golden.native import parameters as numbers
from golden.native.parameters import FLAGS, KEYS, Parameters, is_one_call, parameters
from golden.operations import OPERATIONS, Operation
from golden.operations.exact_sum import FLAG_KEYS
from golden.operations.t_fdpa import TRUNCATIONS
from golden.units.instruction import Instruction

PATH = Path(__file__).parent / "src" / "catalogue.inc"
UNITS = PATH.with_name("units.inc")


def entries() -> Iterator[str]:
    """One line of C++ for all instructions of an architecture that differ in N alone (NVIDIA's names; AMD's stand alone).

    Chains that golden runs as several calls of the library are omitted: pairs, and sums outside of the steps.
    """
    alike: dict[tuple[str, str, bytes], list[Instruction]] = {}
    for entry in instructions():
        if not is_one_call(entry.chain):
            continue
        name = re.sub(r"(?<=\dn)\d+(?=k)", "*", entry.name, count=1)
        packed = bytes(parameters(entry.chain, entry.k))
        alike.setdefault((entry.arch, name, packed), []).append(entry)
    for (arch, name, packed), members in alike.items():
        for n in _even_runs([member.n for member in members]):
            yield _entry(arch, name, n, members[0].m, Parameters.from_buffer_copy(packed))


def _even_runs(n: list[int]) -> list[list[int]]:
    """Rising numbers, cut into evenly spaced runs."""
    runs = [n[:1]]
    for number in n[1:]:
        run = runs[-1]
        if len(run) == 1 or number - run[-1] == run[1] - run[0]:
            run.append(number)
        else:
            runs.append([number])
    return runs


def _entry(arch: str, name: str, n: list[int], m: int, keys: Parameters) -> str:
    step = n[1] - n[0] if len(n) > 1 else 1
    values = ", ".join(str(getattr(keys, key)) for key in KEYS)
    return f'{{"{arch}", "{name}", {m}, {n[0]}, {n[-1]}, {step}, {{{values}}}}},'


def text() -> str:
    """The content of src/catalogue.inc."""
    head = (
        "// Written by golden/native/catalogue_table.py from golden/catalogue/*.toml: arch, name, m, first, last and\n"
        "// step of n, then struct mmau_parameters in its order.\n"
    )
    return head + "\n".join(entries()) + "\n"


NAMES: dict[str, Mapping[Any, int]] = {
    "operations": numbers.OPERATION_CODES, "modes": numbers.MODE_CODES,
    "formats": {name: numbers.format_number(form) for name, form in (FORMATS | {E8M13.name: E8M13}).items()},
    "truncations": {mode: numbers.MODE_CODES[mode] for mode in TRUNCATIONS},
    "overflows": numbers.OVERFLOW_CODES, "nans": numbers.NAN_CODES, "zeros": numbers.ZERO_CODES,
    "combinations": numbers.COMBINATION_CODES, "tininesses": {name: n for n, name in enumerate(TININESSES)},
    "beside_nans": {name: n for n, name in enumerate(BESIDE_NANS)}, "flags": {"false": 0, "true": 1}, "runs": RUNS,
}  # fmt: skip
"""The values of keys that are choices, and their numbers."""

TABLES = {
    **dict.fromkeys(("a", "b", "c", "scale"), "formats"), **dict.fromkeys((*FLAGS, "flags"), "flags"), "rho": "modes",
    "nan": "nans", "truncation": "truncations", "overflow": "overflows", "zero": "zeros", "combination": "combinations",
    "tininess": "tininesses", "beside_nan": "beside_nans",
}  # fmt: skip
"""A key that is a choice, and its table; other keys are integers."""


def units_text() -> str:
    """The content of src/units.inc."""
    lines = ["// Written by golden/native/catalogue_table.py from golden/operations: what keys a unit.toml may have."]
    for table, names in NAMES.items():
        entries = ", ".join(f'{{"{name}", {number}}}' for name, number in names.items())
        lines.append(f"constexpr Named {table}[] = {{{entries}, {{nullptr, 0}}}};")
    words = ("a", "b", "c", "rho", "rounded", "d", "K", "L", "order")
    lines += [f"constexpr int {key}_word = {KEYS.index(key)};" for key in words]
    lines.append("constexpr Key keys[] = {")
    for number, operation in enumerate(OPERATIONS.values()):
        read = {key: needed for key, needed in operation.unit_keys().items() if key not in operation.golden_alone}
        lines += [f"    {{{number}, {_key(operation, key, needed)}}}," for key, needed in read.items()]
    return "\n".join([*lines, "};", ""])


def _key(operation: type[Operation], key: str, needed: bool) -> str:
    """A key of an operation: its name, the member that it fills, the table of its values, its default."""
    member = key if key != "P" else "G" if "h" in operation.unit_keys() else "L"
    word = (*KEYS, *FLAG_KEYS).index(member)
    default: Any = next(field.default for field in fields(operation) if field.name == key)
    table = TABLES.get(key, "nullptr")
    if needed:
        value = "required"
    elif key == "rho":
        value = "to_nearest"
    else:
        name = default.name if isinstance(default, Format) else default
        value = str(NAMES[table][name] if isinstance(name, str) else int(name))
    return f'"{key}", {word}, {table}, {value}'


if __name__ == "__main__":
    write_atomically(PATH, text().encode())
    write_atomically(UNITS, units_text().encode())
