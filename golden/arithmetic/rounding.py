"""Integer rounding: the only place where the models drop bits.

Every number in the models is an integer times a power of two, so all rounding is a right shift of a
signed integer. `shift_and_round` is that shift, in any rounding mode.
"""

from typing import Literal, get_args

Mode = Literal["RZ", "RNE", "RD", "RU", "RO", "RNA"]
"""Rounding modes. RZ: toward zero. RNE: to nearest, ties to even. RD: toward minus infinity. RU: toward plus infinity. RO:
to odd (an inexact value becomes the neighbour whose last bit is 1). RNA: to nearest, ties away from zero."""

MODES: tuple[Mode, ...] = get_args(Mode)

Overflow = Literal["infinity", "saturate", "by-mode"]
"""Results of a sum beyond the largest finite number. `infinity`: the infinity of its sign. `saturate`: the largest finite
number of its sign. `by-mode`: the result of IEEE 754, section 7.4, for the rounding mode (for RO, which IEEE 754 lacks, that
of RZ)."""

OVERFLOWS: tuple[Overflow, ...] = get_args(Overflow)


def overflows_to_largest(overflow: Overflow, mode: Mode, negative: bool) -> bool:
    """Whether a sum beyond the range becomes the largest finite number instead of an infinity."""
    if overflow == "by-mode":
        return mode in ("RZ", "RO", "RU" if negative else "RD")
    return overflow == "saturate"


def shift_and_round(value: int, shift: int, mode: Mode) -> int:
    """`value / 2**shift` rounded to an integer in `mode`; a negative `shift` is an exact left shift.

    Args:
        value: signed integer.
        shift: number of low bits that are dropped.
        mode: one of `MODES`.

    Returns:
        The rounded integer.
    """
    if shift <= 0:
        return value << -shift
    floor = value >> shift
    remainder = value & ((1 << shift) - 1)
    if remainder == 0 or mode == "RD":
        return floor
    if mode == "RU":
        return floor + 1
    if mode == "RZ":
        return floor + (value < 0)
    if mode == "RO":
        return floor | 1
    half = 1 << (shift - 1)
    if remainder != half:
        return floor + (remainder > half)
    if mode == "RNE":
        return floor + (floor & 1)
    return floor + (value > 0)  # RNA: a tie of either sign goes away from zero
