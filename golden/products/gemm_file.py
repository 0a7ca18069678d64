"""The file gemm.toml: the order of accumulation of a whole matrix product."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from golden.catalogue import instruction as find_instruction
from golden.checks import unknown
from golden.files import read_toml
from golden.products.gemm_order import GemmOrder
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from golden.units.unit_file import load_unit

KEYS = ("instruction", "unit", *(field.name for field in fields(GemmOrder) if field.name != "model"))
"""The keys of a gemm.toml."""


def load_order(path: str | Path) -> GemmOrder:
    """Read a gemm.toml: the order of accumulation of a whole matrix product.

    Its keys are the attributes of `GemmOrder` without `model`, and at most one of `instruction` ("ARCH:NAME" of the
    catalogue) and `unit` (the path of a unit file, relative to this file).

    Raises:
        ValueError: not TOML, or a key that is unknown or out of range; the message names key, rule and value.
        OSError: the file, or that of the unit, cannot be read.
    """
    table = read_toml(path)
    try:
        return order_from_table(table, Path(path).parent)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def order_from_table(table: dict[str, Any], folder: Path) -> GemmOrder:
    """The order that a parsed TOML table describes.

    Args:
        folder: the folder that the path of a unit's file is relative to.

    Raises:
        ValueError, TypeError, OSError: as `load_order`, without the path.
    """
    for key in table:
        if key not in KEYS:
            raise ValueError(unknown("key", key, KEYS, shown=len(KEYS)))
    keys = dict(table)
    name, unit = keys.pop("instruction", None), keys.pop("unit", None)
    if name is not None and unit is not None:
        raise ValueError(f"give instruction or unit, not both; got instruction = {name!r}, unit = {unit!r}")
    model: Instruction | Unit | None = None
    if name is not None:
        model = _named(name)
    if unit is not None:
        if not isinstance(unit, str) or not unit:
            raise ValueError(f"unit must be the path of a unit's file, got {unit!r}")
        model = load_unit(folder / unit)
    return GemmOrder(model=model, **keys)


def _named(name: Any) -> Instruction:
    arch, colon, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not colon:
        raise ValueError(
            f'instruction must be "ARCH:NAME", as "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"; got {name!r}'
        )  # fmt: skip
    return find_instruction(arch, rest)
