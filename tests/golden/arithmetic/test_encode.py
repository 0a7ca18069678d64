"""Encoding in every mode: below, at and above every boundary and tie, against the two neighbouring values.

The neighbours come from NumPy and ml_dtypes; which of them a mode takes is the mode's definition (IEEE 754-2019, 4.3), and
what lies beyond the largest value is the project's rule (numerics.md, section 3): infinity in every mode, NaN in formats
without infinities, the largest value in those without either.
"""

from collections.abc import Iterable
from fractions import Fraction

import pytest

from golden import FORMATS, Format
from golden.arithmetic.formats import E8M13, INTEGERS
from golden.arithmetic.rounding import MODES, Mode
from tests.golden.peer_formats import DROPPED_BITS, last_magnitude, magnitude

ALL = [*(f for f in FORMATS.values() if f.name not in INTEGERS), E8M13]
HAIR = Fraction(1, 1 << 2200)
"""An amount smaller than any format's last bit, to make a value slightly larger."""


def boundaries(operand: Format, every: int) -> Iterable[int]:
    """Indices of magnitudes: in 8 bits all of them; in wider formats the ends of binades (with eight exponent bits every
    so manyth ones, of fp64 every 31st) and what lies next to them, and some inside."""
    top, binade = last_magnitude(operand), 1 << operand.man_bits
    if operand.width <= 8:
        return range(top + 1)
    inside = range(0, binade, 97) if operand.width == 16 else (binade // 3, binade // 2)
    offsets = {0, 1, 2, binade - 2, binade - 1, *inside}
    step = 1 if operand.exp_bits < 8 else every if operand.exp_bits < 11 else 31
    starts = {*range(0, top + 1, step * binade), 0, binade, top + 1 - binade, top + 1 - 2 * binade}
    return sorted(start + offset for start in starts for offset in offsets if start + offset <= top)


def beyond_last(operand: Format) -> Fraction:
    """Where the next value would be if there were one more exponent."""
    top = last_magnitude(operand)
    if operand.man_bits == 0:
        return 2 * magnitude(operand, top)
    return 2 * magnitude(operand, top) - magnitude(operand, top - 1)


def code_of(operand: Format, index: int, negative: bool) -> int:
    """The code of the index-th magnitude with that sign, by the overflow rule past the last one."""
    sign = 1 << (operand.width - 1) if negative else 0
    if index > last_magnitude(operand):
        return {
            "ieee": sign | ((1 << operand.exp_bits) - 1) << (operand.man_bits + DROPPED_BITS.get(operand.name, 0)),
            "fn": sign | ((1 << (operand.exp_bits + operand.man_bits)) - 1),
            "fnuz": 0x80,
            "finite": sign | last_magnitude(operand),
        }[operand.specials]
    if index == 0 and operand.specials == "fnuz":
        return 0
    return sign | index << DROPPED_BITS.get(operand.name, 0)


def taken(operand: Format, index: int, part: Fraction, mode: Mode, negative: bool) -> int:
    """Which magnitude a mode takes for a value between the index-th and the next, `part` of the way (0 < part < 1)."""
    odd = operand.man_bits == 0 or index % 2 == 1  # ue8m0's only significand, 1, is odd
    up = {
        "RZ": False,
        "RD": negative,
        "RU": not negative,
        "RNE": part > Fraction(1, 2) or (part == Fraction(1, 2) and odd),
        "RNA": part >= Fraction(1, 2),
        "RO": not odd,
    }[mode]
    return index + up


def check(operand: Format, value: Fraction, index: int, part: Fraction) -> None:
    """Encode ±value, which lies between the index-th magnitude and the next, or on the index-th where part is 0."""
    for mode in MODES:
        for negative in (False, True) if operand.signed else (False,):
            got = operand.encode(-value if negative else value, mode)
            expected = code_of(operand, taken(operand, index, part, mode, negative) if part else index, negative)
            assert got == expected, (mode, negative, index, part)


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("operand", ALL, ids=str)
def test_encode_about_boundaries_and_ties(operand: Format, every: int) -> None:
    half = Fraction(1, 2)
    for index in boundaries(operand, every):
        low = magnitude(operand, index)
        high = magnitude(operand, index + 1) if index < last_magnitude(operand) else beyond_last(operand)
        if low:
            check(operand, low, index, Fraction(0))
        for part, offset in ((0, HAIR), (half, -HAIR), (half, 0), (half, HAIR), (1, -HAIR)):
            value = low + part * (high - low) + offset
            check(operand, value, index, (value - low) / (high - low))


@pytest.mark.parametrize("operand", ALL, ids=str)
def test_encode_at_overflow_and_beyond(operand: Format) -> None:
    past = last_magnitude(operand) + 1
    for value in (beyond_last(operand), beyond_last(operand) + HAIR, 3 * beyond_last(operand), Fraction(1 << 5000)):
        check(operand, value, past, Fraction(0))


@pytest.mark.parametrize("operand", [f for f in ALL if f.signed], ids=str)
def test_encode_of_a_value_far_below_the_smallest_keeps_its_sign(operand: Format) -> None:
    for mode in MODES:
        up = {"RU": 1, "RO": 1}.get(mode, 0)
        down = {"RD": 1, "RO": 1}.get(mode, 0)
        assert operand.encode(HAIR * HAIR, mode) == code_of(operand, up, False)
        assert operand.encode(-HAIR * HAIR, mode) == code_of(operand, down, True)


@pytest.mark.parametrize("mode", MODES)
def test_encode_unsigned(mode: Mode) -> None:
    """A negative value has no code: NaN. ue8m0 has no zero: a smaller value becomes its smallest one."""
    ue8m0, ue4m3 = FORMATS["ue8m0"], FORMATS["ue4m3"]
    assert [ue8m0.encode(-1, mode), ue4m3.encode(-1, mode)] == [0xFF, 0x7F]
    assert [ue8m0.encode(-HAIR, mode), ue4m3.encode(-HAIR, mode)] == [0xFF, 0x7F]
    assert [ue8m0.encode(0, mode), ue8m0.encode(HAIR, mode), ue8m0.encode(Fraction(2) ** -127, mode)] == [0, 0, 0]
    assert [ue4m3.encode(0, mode), ue4m3.encode(HAIR, mode)] == [0, int(mode in ("RU", "RO"))]


def test_what_cannot_be_encoded_is_refused() -> None:
    for value in (float("inf"), float("-inf"), float("nan")):
        with pytest.raises(ValueError, match=rf"^encode takes a finite value, got {value!r}$"):
            FORMATS["fp32"].encode(value)
    with pytest.raises(ValueError, match=r"^rounding mode must be one of RZ, RNE, RD, RU, RO, RNA, got 'RN'$"):
        FORMATS["fp32"].encode(1, "RN")  # type: ignore[arg-type]
