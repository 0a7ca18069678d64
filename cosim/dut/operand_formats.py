"""`[formats]` of a `dut.toml`: the operand formats of a design that no unit describes yet."""

from pathlib import Path
from typing import Any

from golden.arithmetic.formats import FORMATS, Format
from golden.checks import listed, unknown
from golden.files import read_toml
from golden.operations.base import MAX_LENGTH
from golden.stimulus import OperandShape

OPERANDS = ("a", "b", "c", "d")
KEYS = (*OPERANDS, "K", "scale", "K_block")


def load_formats(path: str | Path) -> OperandShape | None:
    """Read the formats of the operands of one dot product; None where the file has no table `[formats]`.

    Raises:
        ValueError: a key that is unknown, missing or out of range; the message names file, key, rule and value. OSError: the
            file cannot be read.
    """
    table = read_toml(path).get("formats")
    if table is None:
        return None
    try:
        return formats_from_table(table)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def formats_from_table(table: Any) -> OperandShape:
    """The operands that a parsed table `[formats]` describes.

    Raises:
        ValueError: as `load_formats`, without the path.
    """
    if not isinstance(table, dict):
        raise ValueError(f"formats must be a table, got {table!r}")
    for key in table:
        if key not in KEYS:
            raise ValueError(unknown("[formats] key", key, KEYS))
    missing = [key for key in (*OPERANDS, "K") if key not in table]
    if missing:
        raise ValueError(f"[formats] is missing {listed(missing)}; its keys are {listed(KEYS)}")
    if ("scale" in table) != ("K_block" in table):
        raise ValueError("[formats] scale and K_block go together: a scale is for K_block elements")
    scale = _format("scale", table["scale"]) if "scale" in table else None
    a, b, c, d = (_format(key, table[key]) for key in OPERANDS)
    block = _count("K_block", table["K_block"]) if scale is not None else None
    return OperandShape(a=a, b=b, c=c, d=d, K=_count("K", table["K"]), scale=scale, block_size=block)


def _format(key: str, value: Any) -> Format:
    if not isinstance(value, str) or value not in FORMATS:
        raise ValueError(unknown(f"[formats] {key}", value, list(FORMATS)))
    return FORMATS[value]


def _count(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_LENGTH:
        raise ValueError(f"[formats] {key} must be an integer from 1 to {MAX_LENGTH}, got {value!r}")
    return value
