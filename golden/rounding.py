"""Integer rounding: the one place where bits are dropped.

Every number in the models is an integer times a power of two, so all rounding is a right shift of a
signed integer. `shift_and_round` is that shift, in any rounding mode.
"""

from typing import Literal, get_args

Mode = Literal["RZ", "RNE", "RD", "RU", "RNA"]
"""Toward zero; nearest, ties to even; toward minus infinity; toward plus infinity; nearest, ties away."""

MODES: tuple[Mode, ...] = get_args(Mode)


def shift_and_round(value: int, shift: int, mode: Mode) -> int:
    """`value / 2**shift` rounded to an integer in `mode`; a negative `shift` is an exact left shift.

    Args:
        value: signed integer.
        shift: how many low bits go (bits).
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
    half = 1 << (shift - 1)
    if remainder != half:
        return floor + (remainder > half)
    if mode == "RNE":
        return floor + (floor & 1)
    return floor + (value > 0)  # RNA: a tie of either sign goes away from zero
