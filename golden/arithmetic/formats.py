"""The number formats of the models, by name: those of `formats.toml` beside this file (numerics.md, section 2)."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.arithmetic.format import Cls, Decoded, Format, power_of_two
from golden.arithmetic.format_fields import STORAGE_BITS, storage_for
from golden.arithmetic.integer_format import IntegerFormat, integer

__all__ = [
    "B1", "BF16", "E2M1", "E2M3", "E3M2", "E4M3", "E4M3FNUZ", "E4M3IEEE", "E5M2", "E5M2FNUZ", "E8M13", "FORMATS", "FP16",
    "FP32", "FP64", "INT4", "INT8", "INT32", "INTEGERS", "TF32", "UE4M3", "UE8M0", "UINT4", "UINT8", "Cls", "Decoded",
    "Format", "IntegerFormat", "named_integer", "power_of_two",
]  # fmt: skip


FIELDS = {"exp_bits": True, "man_bits": True, "bias": True, "specials": True, "subnormals": False, "signed": False}
"""The keys of a format in a unit file, and whether each must be given."""


def format_from_fields(name: str, fields: Mapping[str, Any]) -> Format:
    """The format with the fields of a TOML table; its codes are stored in the narrowest word that holds them.

    Raises:
        ValueError, TypeError: fields that describe no format.
    """
    width = sum(fields[key] for key in ("exp_bits", "man_bits") if type(fields[key]) is int) + fields.get("pad_bits", 0)
    has_sign = fields.get("signed", True) is not False or fields.get("ignored_sign", False)
    return Format(name=name, storage_bits=storage_for(width + has_sign), **fields)


def fields_of(form: Format) -> dict[str, Any]:
    """The fields that `format_from_fields` makes a format of a unit file from."""
    return {key: getattr(form, key) for key in FIELDS}


_TABLE = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))

FORMATS: dict[str, Format] = {
    name: integer(name, **table) if "bits" in table else format_from_fields(name, table) for name, table in _TABLE.items()
}

INTEGERS: dict[str, IntegerFormat] = {name: f for name, f in FORMATS.items() if isinstance(f, IntegerFormat)}
"""The formats of the operations on integers."""


def named_integer(name: str) -> IntegerFormat | None:
    """The integer of a name: one of `INTEGERS`, or intN or uintN of N bits; None of another name."""
    found = re.fullmatch(r"(u?)int([1-9]\d?)", name)
    if name in INTEGERS or found is None or int(found[2]) > STORAGE_BITS[-1] or (not found[1] and found[2] == "1"):
        return INTEGERS.get(name)
    return integer(name, int(found[2]), signed=not found[1])


E8M13 = FORMATS.pop("e8m13")
"""The result format of RZ-E8M13."""

FP64, FP32, TF32, FP16, BF16 = (FORMATS[name] for name in ("fp64", "fp32", "tf32", "fp16", "bf16"))
E5M2, E4M3, E4M3FNUZ, E5M2FNUZ = (FORMATS[name] for name in ("e5m2", "e4m3", "e4m3fnuz", "e5m2fnuz"))
E3M2, E2M3, E2M1, E4M3IEEE = (FORMATS[name] for name in ("e3m2", "e2m3", "e2m1", "e4m3ieee"))
UE8M0, UE4M3 = FORMATS["ue8m0"], FORMATS["ue4m3"]
INT8, UINT8, INT4, UINT4, B1, INT32 = (INTEGERS[name] for name in ("int8", "uint8", "int4", "uint4", "b1", "int32"))
