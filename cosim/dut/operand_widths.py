"""Reads the table `[operands]` of a `dut.toml`: the widths of c and d where they differ from the unit's."""

from collections.abc import Mapping
from typing import Any

from cosim.bench.products import FixedPoint, OperandWidths
from golden.checks import check_int, unknown

MOST_BITS_OF_C = 32
"""Number of bits of a unit's integer c."""


def widths_from_table(table: Mapping[str, Any]) -> OperandWidths:
    """The widths that a parsed table `[operands]` gives.

    Raises:
        ValueError: a key that is unknown, missing or out of range; the message names key, rule and value.
    """
    for key in table:
        if key not in ("c", "d"):
            raise ValueError(unknown("[operands] key", key, ("c", "d")))
    return OperandWidths(_c_bits(table["c"]) if "c" in table else None, _fixed(table["d"]) if "d" in table else None)


def _c_bits(given: Any) -> int:
    if given == "none":
        return 0
    if not isinstance(given, dict) or set(given) != {"bits"}:
        raise ValueError(f'[operands] c must be "none" or {{bits = 16}}, got {given!r}')
    check_int("[operands] c bits", given["bits"], 1, MOST_BITS_OF_C)
    return int(given["bits"])


def _fixed(given: Any) -> FixedPoint:
    if not isinstance(given, dict) or not {"bits"} <= set(given) <= {"bits", "fraction"}:
        raise ValueError(f"[operands] d must be {{bits = 73, fraction = 32}}, got {given!r}")
    return FixedPoint(given["bits"], given.get("fraction", 0))
