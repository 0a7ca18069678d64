"""Numbers of the twin: what a bit pattern is worth, and how an exact value is rounded to one, on `Fraction` alone.

Written from numerics.md, sections 1 to 4. Nothing here is shared with golden/: a format is known by its name, decoding is
the textbook formula, rounding compares a value with its two neighbours.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from math import floor
from typing import Literal, NamedTuple

from tests.twin.rational import Fraction

Kind = Literal["finite", "infinite", "nan"]


class Layout(NamedTuple):
    """Field widths (bits), bias, which special values exist, low bits that are dropped, and whether there are a sign and
    subnormals. `p3109`: infinity is all ones, NaN the code of −0; without a sign NaN is all ones, infinity one below."""

    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: Literal["ieee", "one nan", "nan for -0", "none", "p3109"]
    dropped_bits: int = 0
    signed: bool = True
    subnormals: bool = True

    @property
    def smallest_normal(self) -> int:
        """The exponent of the smallest normal number; without subnormals that of a stored exponent of 0."""
        return 1 - self.bias if self.subnormals else -self.bias

    @property
    def fields(self) -> int:
        """How many fields, exponent and mantissa, there are."""
        return 2 ** (self.exponent_bits + self.mantissa_bits)

    @property
    def first_special(self) -> int:
        """The field above those of finite numbers."""
        if self.specials == "ieee":
            return self.fields - 2**self.mantissa_bits
        return self.fields - {"one nan": 1, "p3109": 1 if self.signed else 2}.get(self.specials, 0)


LAYOUTS: dict[str, Layout] = {
    "fp64": Layout(11, 52, 1023, "ieee"),
    "fp32": Layout(8, 23, 127, "ieee"),
    "fp16": Layout(5, 10, 15, "ieee"),
    "bf16": Layout(8, 7, 127, "ieee"),
    "e5m2": Layout(5, 2, 15, "ieee"),
    "tf32": Layout(8, 10, 127, "ieee", dropped_bits=13),
    "e8m13": Layout(8, 13, 127, "ieee", dropped_bits=10),
    "e4m3": Layout(4, 3, 7, "one nan"),
    "e4m3ieee": Layout(4, 3, 7, "ieee"),
    "e4m3fnuz": Layout(4, 3, 8, "nan for -0"),
    "e5m2fnuz": Layout(5, 2, 16, "nan for -0"),
    "e3m2": Layout(3, 2, 3, "none"),
    "e2m3": Layout(2, 3, 1, "none"),
    "e2m1": Layout(2, 1, 1, "none"),
    "ue4m3": Layout(4, 3, 7, "one nan", signed=False),
}
"""numerics.md, section 2; ue8m0 has a rule of its own in `decode`. e8m13 is the word that RZ-E8M13 rounds to."""


VALUES: dict[str, "list[Number]"] = {}
"""Numbers of formats without fields, by code."""

FIXED_POINT: dict[str, tuple[int, int]] = {}
"""Bits and fraction bits of fixed-point accumulators."""


class Number(NamedTuple):
    """A term of a sum. Finite: value = significand · 2^exponent, with the exponent as numerics.md, section 1, defines it.

    `negative` is the sign, which zeros and infinities have too.
    """

    kind: Kind
    negative: bool
    significand: Fraction
    exponent: int

    @property
    def value(self) -> Fraction:
        return self.significand * two_to(self.exponent)

    @property
    def is_zero(self) -> bool:
        return self.kind == "finite" and self.significand == 0


NAN = Number("nan", False, Fraction(0), 0)


@cache
def two_to(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def infinite(negative: bool) -> Number:
    return Number("infinite", negative, Fraction(0), 0)


def decode(name: str, code: int) -> Number:
    """The value of a code of the named format."""
    if name in FIXED_POINT:
        (bits, places), negative = FIXED_POINT[name], code >> FIXED_POINT[name][0] - 1 == 1
        return Number("finite", negative, Fraction(code - 2**bits if negative else code, 2**places), 0)
    if name in VALUES:
        return VALUES[name][code]
    if name == "ue8m0":
        return NAN if code == 0xFF else Number("finite", False, Fraction(1), code - 127)
    return number_of(LAYOUTS[name], code)


@lru_cache(maxsize=2**18)
def number_of(layout: Layout, code: int) -> Number:
    """The value of a code of a format with fields."""
    exponent_bits, mantissa_bits, bias, specials, dropped_bits, signed, subnormals = layout
    code //= 2**dropped_bits
    mantissa = code % 2**mantissa_bits
    stored = code // 2**mantissa_bits % 2**exponent_bits
    negative = code // layout.fields == 1 and signed
    field = code % layout.fields
    if field >= layout.first_special:
        is_first = field == layout.first_special and specials in ("ieee", "p3109")
        return infinite(negative) if is_first else NAN
    if field == 0 and negative and specials in ("nan for -0", "p3109"):
        return NAN
    fraction = Fraction(mantissa, 2**mantissa_bits)
    magnitude, exponent = (1 + fraction, stored - bias) if stored else (fraction, 1 - bias)
    if not subnormals:
        has_zero = signed or mantissa_bits > 0  # a lone exponent has none
        magnitude, exponent = (Fraction(0) if has_zero and not field else 1 + fraction, stored - bias)
    return Number("finite", negative, -magnitude if negative else magnitude, exponent)


def exponent_of(value: Fraction) -> int:
    """The e with 2^e ≤ |value| < 2^(e+1), found by comparing."""
    magnitude = abs(value)
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if two_to(guess) <= magnitude else guess - 1


def nearest_even(value: Fraction) -> int:
    """The integer nearest to the value; halfway, the even one."""
    below = floor(value)
    rest = value - below
    if rest == Fraction(1, 2):
        return below if below % 2 == 0 else below + 1
    return below if rest < Fraction(1, 2) else below + 1


def toward_zero(value: Fraction) -> int:
    return floor(value) if value >= 0 else -floor(-value)


def odd_unless_exact(value: Fraction) -> int:
    """The value itself where it is an integer, else the odd one of its two neighbours."""
    return next(integer for integer in (floor(value), floor(value) + 1) if integer == value or integer % 2)


def nearest_away(value: Fraction) -> int:
    """The integer nearest to the value; halfway, the one farther from zero."""
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


INTEGER_ROUNDING: dict[str, Callable[[Fraction], int]] = {
    "RZ": toward_zero,
    "RD": floor,
    "RU": lambda value: -floor(-value),
    "RNE": nearest_even,
    "RO": odd_unless_exact,
    "RNA": nearest_away,
}
"""Rounding modes, as functions from a rational to one of its two neighbouring integers."""


def stochastic(variant: str, bits: int, random: int) -> Callable[[Fraction], int]:
    """IEEE P3109's stochastic rounding with the random number R of N bits: away from zero where

        A   floor(δ · 2^N) + R ≥ 2^N       B   floor(δ · 2^(N+1)) + 2·R + 1 ≥ 2^(N+1)       C   RNE(δ · 2^N) + R ≥ 2^N

    with δ the part of the magnitude below the integer; as gfloat has it, the reference implementation, under the names
    StochasticFastest, StochasticFast and Stochastic.
    """

    def round_(value: Fraction) -> int:
        below = floor(abs(value))
        delta = abs(value) - below
        match variant:
            case "A":
                away = floor(delta * 2**bits) + random >= 2**bits
            case "B":
                away = floor(delta * 2 ** (bits + 1)) + 2 * random + 1 >= 2 ** (bits + 1)
            case _:
                away = nearest_even(delta * 2**bits) + random >= 2**bits
        return (below + away) * (-1 if value < 0 else 1)

    return round_


def keep(value: Fraction, bits: int, mode: str) -> Fraction:
    """The value with that many fractional bits: RZ_f, RD_f of numerics.md, section 1."""
    return INTEGER_ROUNDING[mode](value * two_to(bits)) / two_to(bits)


STOPS_AT_THE_LARGEST = {
    "infinity": ((), ()),
    "saturate": (("RZ", "RO", "RNE", "RNA", "RD", "RU", "SR"), ("RZ", "RO", "RNE", "RNA", "RD", "RU", "SR")),
    "by-mode": (("RZ", "RO", "RD"), ("RZ", "RO", "RU")),
}
"""By the key `overflow`: the modes in which a positive and in which a negative sum beyond the range stays finite."""


def encode(name: str, value: Fraction, mode: str, overflow: str = "infinity", flush: bool = False) -> int:
    """The code of an exact value after one rounding.

    A negative value that rounds to zero gives −0, where there is one, an exact zero +0. `overflow` and `flush` are keys of
    the unit; a format without subnormals always flushes.
    """
    layout = LAYOUTS[name]
    if value == 0:
        return 0
    flushes, smallest = flush or not layout.subnormals, layout.smallest_normal
    lowest = exponent_of(value) if flushes else smallest
    unit = two_to(max(exponent_of(value), lowest) - layout.mantissa_bits)
    rounded = abs(INTEGER_ROUNDING[mode](value / unit)) * unit
    if rounded < two_to(smallest):
        field = 0 if flushes else int(rounded / two_to(smallest - layout.mantissa_bits))
    else:
        exponent = exponent_of(rounded)
        fraction = int((rounded / two_to(exponent) - 1) * 2**layout.mantissa_bits)
        field = (exponent + layout.bias) * 2**layout.mantissa_bits + fraction
    if field >= layout.first_special:
        if mode in STOPS_AT_THE_LARGEST[overflow][value < 0] or layout.specials == "none":
            field = layout.first_special - 1
        elif layout.specials == "nan for -0":
            return layout.fields
        else:
            field = layout.first_special
    sign = 0 if value > 0 or (field == 0 and not has_negative_zero(name)) else layout.fields
    return (sign + field) * 2**layout.dropped_bits


def has_negative_zero(name: str) -> bool:
    return LAYOUTS[name].specials not in ("nan for -0", "p3109")


def infinity_code(name: str, negative: bool) -> int:
    """The code of an infinity, of a format that has one."""
    layout = LAYOUTS[name]
    return layout.fields * negative + layout.first_special


def is_nan(name: str, code: int) -> bool:
    return decode(name, code).kind == "nan"
