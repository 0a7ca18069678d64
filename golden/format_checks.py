"""What a number format can be: the checks of `Format`, each field by itself and then all together."""

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from golden.checks import check_bool, check_choice, check_int, check_name

if TYPE_CHECKING:
    from golden.format import Format

SPECIALS = ("ieee", "fn", "fnuz", "finite")

STORAGE_BITS = (8, 16, 32, 64)
"""Widths of the unsigned integers that carry codes."""

MAX_EXP_BITS, MAX_MAN_BITS, MAX_BIAS = 15, 62, 1 << 14
"""Largest widths (bits) and largest |bias| (exponent value) that are accepted; the widest published is fp64."""


def check_format(f: "Format") -> None:
    """Raise unless the fields make a format.

    Raises:
        TypeError, ValueError: the message names the field, the rule and the value.
    """
    check_name("name of a format", f.name)
    check_int(f"exp_bits of {f.name}", f.exp_bits, 1, MAX_EXP_BITS)
    check_int(f"man_bits of {f.name}", f.man_bits, 0, MAX_MAN_BITS)
    check_int(f"bias of {f.name}", f.bias, -MAX_BIAS, MAX_BIAS)
    check_choice(f"specials of {f.name}", f.specials, SPECIALS)
    check_int(f"pad_bits of {f.name}", f.pad_bits, 0, MAX_MAN_BITS)
    check_bool(f"signed of {f.name}", f.signed)
    check_bool(f"subnormals of {f.name}", f.subnormals)
    if type(f.storage_bits) is not int or f.storage_bits not in STORAGE_BITS:
        raise ValueError(f"storage_bits of {f.name} must be 8, 16, 32 or 64, got {f.storage_bits!r}")
    _check_fields(f)
    _check_specials(f)
    check_dtype(f)


def _check_fields(f: "Format") -> None:
    if f.exp_bits + f.man_bits < 2:
        raise ValueError(f"exp_bits + man_bits of {f.name} must be at least 2, got {f.exp_bits} + {f.man_bits}")
    if not f.subnormals and (f.signed or f.man_bits or f.pad_bits):
        raise ValueError(
            f"{f.name} has no subnormals, so it must be unsigned with man_bits=0 and pad_bits=0; "
            f"got signed={f.signed}, man_bits={f.man_bits}, pad_bits={f.pad_bits}"
        )
    if f.width > f.storage_bits:
        raise ValueError(f"storage_bits of {f.name} must hold a code's {f.width} bits, got {f.storage_bits}")


def _check_specials(f: "Format") -> None:
    if f.specials == "ieee" and (f.man_bits < 1 or f.exp_bits < 2):
        raise ValueError(
            f"specials of {f.name} may be ieee with exp_bits ≥ 2 and man_bits ≥ 1 alone, to tell NaN and infinity from "
            f"numbers; got exp_bits={f.exp_bits}, man_bits={f.man_bits}"
        )
    if f.specials == "fnuz" and not f.signed:
        raise ValueError(f"specials of {f.name} may be fnuz with a sign bit alone: the code of −0 is NaN; got signed=False")


def check_dtype(f: "Format") -> None:
    """Raise unless dtype names a dtype of the format's width, or none."""
    if f.dtype is None:
        return
    try:
        bits = 8 * np.dtype(getattr(ml_dtypes, str(f.dtype), None) or f.dtype).itemsize
    except TypeError:
        raise ValueError(f"dtype of {f.name} must be the name of a NumPy or ml_dtypes dtype, got {f.dtype!r}") from None
    if bits != f.storage_bits:
        raise ValueError(f"dtype of {f.name} must have its {f.storage_bits} storage bits, got {f.dtype} of {bits}")
