"""`shift_and_round` in every mode, over all small values and shifts, against the definitions of the modes on rationals."""

from fractions import Fraction
from math import ceil, floor

import pytest

from golden.arithmetic.rounding import MODES, Mode, shift_and_round

VALUES = range(-1100, 1101)
SHIFTS = range(1, 13)


def nearest(quotient: Fraction, tie: int) -> int:
    """The integer nearest to the quotient, `tie` where two are as near."""
    low, high = floor(quotient), ceil(quotient)
    if quotient - low == high - quotient:
        return tie
    return low if quotient - low < high - quotient else high


def rounded(quotient: Fraction, mode: Mode) -> int:
    """The definition of each mode (IEEE 754-2019, 4.3; RO: S. Boldo, G. Melquiond, IEEE Trans. Computers 57, 2008)."""
    low, high = floor(quotient), ceil(quotient)
    return {
        "RZ": high if quotient < 0 else low,
        "RD": low,
        "RU": high,
        "RNE": nearest(quotient, tie=low if low % 2 == 0 else high),
        "RNA": nearest(quotient, tie=low if quotient < 0 else high),
        "RO": low if low == high or low % 2 else high,
    }[mode]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_shift_and_round_rounds_every_small_value_at_every_shift(mode: Mode) -> None:
    for shift in SHIFTS:
        for value in VALUES:
            assert shift_and_round(value, shift, mode) == rounded(Fraction(value, 2**shift), mode), (value, shift)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shift", [0, -1, -7, -200])
def test_shift_and_round_by_no_bits_or_fewer_is_exact(mode: Mode, shift: int) -> None:
    for value in (-3, -1, 0, 1, 5, 1 << 90):
        assert shift_and_round(value, shift, mode) == value * 2**-shift


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shift", [64, 65, 300, 2000])
def test_shift_and_round_of_wide_values_about_a_tie_and_far_below_the_last_bit(mode: Mode, shift: int) -> None:
    ties = ((whole << shift) + (1 << (shift - 1)) for whole in (0, 1, 2, (1 << 64) - 1))
    for value in (1, *(tie + offset for tie in ties for offset in (-1, 0, 1))):
        for signed in (value, -value):
            assert shift_and_round(signed, shift, mode) == rounded(Fraction(signed, 1 << shift), mode), signed
