"""The fields of a number format, and the checks of each field and of their combination."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import ml_dtypes
import numpy as np

from golden.checks import check_bool, check_choice, check_int, check_name

Specials = Literal["ieee", "fn", "fnuz", "finite", "p3109", "merged"]
"""Which codes are special: `ieee`, Inf and NaN at the top exponent; `fn`, no Inf, NaN where exponent and mantissa are all
ones; `fnuz`, no Inf and no −0, the code of −0 is NaN; `finite`, every code is a number; `p3109`, as `fnuz`, and Inf where
exponent and mantissa are all ones, or without a sign NaN there and Inf one code below; `merged`, as `fn`, where the code of
NaN stands for Inf too."""

STORAGE_BITS = (8, 16, 32, 64)
"""Widths of the unsigned integers that carry codes."""


def storage_for(width: int) -> int:
    """The narrowest of `STORAGE_BITS` that holds codes of so many bits; the widest for more than that."""
    return next((bits for bits in STORAGE_BITS if bits >= width), STORAGE_BITS[-1])


MAX_EXP_BITS, MAX_MAN_BITS, MAX_BIAS = 15, 62, 1 << 14
"""Upper limits of widths (bits) and of |bias| (exponent value); the widest published format is fp64."""


@dataclass(frozen=True, kw_only=True, repr=False)
class FormatFields:
    """The fields of a format.

    Attributes:
        name: its name in the catalogue and in unit files.
        exp_bits, man_bits: field widths (bits).
        bias: a number with the stored exponent e has the exponent e − bias; a subnormal has 1 − bias.
        specials: see `Specials`.
        storage_bits: width of the unsigned integer that carries one code (8, 16, 32 or 64).
        pad_bits: low bits of the stored word that decode ignores and encode writes as zero (tf32: 13).
        signed: False where the sign bit is absent (ue8m0) or ignored (ue4m3).
        ignored_sign: whether an unsigned format's codes have a bit in place of the sign, which decode ignores (ue4m3).
        subnormals: False where a stored exponent of 0 is that of a normal number: only the code of zero is none. A format of
            an exponent alone (ue8m0) then has no zero either: its code 0 is 2^−bias.
        dtype: the matching NumPy or ml_dtypes dtype name, None if neither has one.
    """

    name: str = field(compare=False)
    exp_bits: int
    man_bits: int
    bias: int
    specials: Specials
    storage_bits: int
    pad_bits: int = 0
    signed: bool = True
    ignored_sign: bool = False
    subnormals: bool = True
    dtype: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_format(self)

    @cached_property
    def width(self) -> int:
        """Number of bits of a code: 6 for FP6, 4 for FP4, 32 for tf32 (an fp32 word), 8 for ue4m3 (its top bit is
        ignored)."""
        return (self.signed or self.ignored_sign) + self.exp_bits + self.man_bits + self.pad_bits

    @cached_property
    def has_zero(self) -> bool:
        """Whether some code is zero; a format of an exponent alone, as ue8m0, has none."""
        return self.subnormals or self.signed or self.man_bits > 0


def _check_format(f: FormatFields) -> None:
    """Raise unless the fields describe a format.

    Raises:
        TypeError, ValueError: the message names the field, the rule and the value.
    """
    check_name("name of a format", f.name)
    check_int(f"exp_bits of {f.name}", f.exp_bits, 1, MAX_EXP_BITS)
    check_int(f"man_bits of {f.name}", f.man_bits, 0, MAX_MAN_BITS)
    check_int(f"bias of {f.name}", f.bias, -MAX_BIAS, MAX_BIAS)
    check_choice(f"specials of {f.name}", f.specials, get_args(Specials))
    check_int(f"pad_bits of {f.name}", f.pad_bits, 0, MAX_MAN_BITS)
    check_bool(f"signed of {f.name}", f.signed)
    check_bool(f"ignored_sign of {f.name}", f.ignored_sign)
    check_bool(f"subnormals of {f.name}", f.subnormals)
    if type(f.storage_bits) is not int or f.storage_bits not in STORAGE_BITS:
        raise ValueError(f"storage_bits of {f.name} must be 8, 16, 32 or 64, got {f.storage_bits!r}")
    _check_fields(f)
    _check_specials(f)
    check_dtype(f)


def _check_fields(f: FormatFields) -> None:
    if f.exp_bits + f.man_bits < 2:
        raise ValueError(f"exp_bits + man_bits of {f.name} must be at least 2, got {f.exp_bits} + {f.man_bits}")
    if f.signed and f.ignored_sign:
        raise ValueError(f"ignored_sign of {f.name} must be False where signed is True, got True")
    if f.width > f.storage_bits:
        raise ValueError(f"storage_bits of {f.name} must hold a code's {f.width} bits, got {f.storage_bits}")


def _check_specials(f: FormatFields) -> None:
    if f.specials == "ieee" and (f.man_bits < 1 or f.exp_bits < 2):
        raise ValueError(
            f"specials of {f.name} may be ieee only with exp_bits ≥ 2 and man_bits ≥ 1, to distinguish NaN and infinity "
            f"from numbers; got exp_bits={f.exp_bits}, man_bits={f.man_bits}"
        )
    if f.specials == "fnuz" and not f.signed:
        raise ValueError(
            f"specials of {f.name} may be fnuz only with a sign bit, because the code of −0 is NaN; got signed=False"
        )


def check_dtype(f: FormatFields) -> None:
    """Raise unless dtype is None or names a dtype of the format's storage width."""
    if f.dtype is None:
        return
    try:
        bits = 8 * np.dtype(getattr(ml_dtypes, str(f.dtype), None) or f.dtype).itemsize
    except TypeError:
        raise ValueError(f"dtype of {f.name} must be the name of a NumPy or ml_dtypes dtype, got {f.dtype!r}") from None
    if bits != f.storage_bits:
        raise ValueError(f"dtype of {f.name} must have its {f.storage_bits} storage bits, got {f.dtype} of {bits}")
