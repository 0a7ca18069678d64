"""Formats by their fields: every P3109 format of up to 8 bits, ml_dtypes' float8_e3m4 and DLFloat16, every code decoded and
every value, and what lies between two, encoded in every mode, as rules written here from their sources have it."""

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

from golden.arithmetic.format_fields import Specials
from golden.arithmetic.formats import Format, format_from_fields
from golden.arithmetic.rounding import MODES, OVERFLOWS, overflows_to_largest

Value = Fraction | str
"""A number, or `inf`, `-inf`, `nan`."""


def p3109_value(code: int, K: int, P: int, signed: bool, extended: bool) -> Value:
    """The value of a code of BinaryKPp, the format of a width K and a precision P (IEEE P3109's interim report)."""
    half = 1 << K - 1
    if signed and code == half:
        return "nan"
    if not signed and code == (1 << K) - 1:
        return "nan"
    if signed and code > half:
        value = p3109_value(code - half, K, P, signed, extended)
        return "-inf" if value == "inf" else value if isinstance(value, str) else -value
    if extended and code == (half - 1 if signed else (1 << K) - 2):
        return "inf"
    bias = 1 << (K - P - 1 if signed else K - P)
    trailing, exponent = code % (1 << P - 1), code >> P - 1
    significand = Fraction(trailing, 1 << P - 1) + (exponent > 0)
    return significand * Fraction(2) ** (max(exponent, 1) - bias)


def p3109_format(K: int, P: int, signed: bool, extended: bool) -> Format:
    specials: Specials = "p3109" if extended else "fnuz" if signed else "fn"
    exp_bits = K - P + (not signed)
    bias = 1 << (K - P - 1 if signed else K - P)
    fields = {"exp_bits": exp_bits, "man_bits": P - 1, "bias": bias, "specials": specials, "signed": signed}
    return format_from_fields(f"binary{K}p{P}", fields)


def p3109_formats() -> Iterator[tuple[int, int, bool, bool]]:
    for K in range(3, 9):
        for signed in (True, False):
            for P in range(1, K if signed else K + 1):
                for extended in (True, False):
                    yield K, P, signed, extended


def decoded(form: Format, code: int) -> Value:
    sign, _, _, cls = form.decode(code)
    value = form.value(code)
    return value if value is not None else cls.name.lower().replace("infinity", "-inf" if sign else "inf")


@pytest.mark.parametrize(("K", "P", "signed", "extended"), list(p3109_formats()))
def test_every_code_of_p3109_has_its_value(K: int, P: int, signed: bool, extended: bool) -> None:
    form = p3109_format(K, P, signed, extended)
    assert form.width == K
    values = [p3109_value(code, K, P, signed, extended) for code in range(1 << K)]
    assert [decoded(form, code) for code in range(1 << K)] == values
    finite = [value for value in values if isinstance(value, Fraction)]
    assert len(set(finite)) == len(finite)  # one zero


def places(form: Format) -> list[tuple[Fraction, int]]:
    """The non-negative numbers of a format with their fields, and the number that would follow the largest."""
    numbers = [(form.value(code) or Fraction(0), code) for code in range(form.max_finite + 1)]
    largest, field = numbers[-1]
    exponent = max(field >> form.man_bits, 1) - form.bias
    return [*numbers, (largest + Fraction(2) ** (exponent - form.man_bits), field + 1)]


def expected(form: Format, value: Fraction, mode: str, overflow: str) -> int:
    """The code of a value, found among all numbers of the format."""
    negative, size, numbers = value < 0, abs(value), places(form)
    at = min(bisect_right([number for number, _ in numbers], size) - 1, len(numbers) - 1)
    field = numbers[at][1]
    if at + 1 < len(numbers) and size != numbers[at][0]:
        low, high = numbers[at], numbers[at + 1]
        middle = (low[0] + high[0]) / 2
        even = low[1] if low[1] % 2 == 0 else high[1]
        field = {
            "RZ": low[1], "RD": high[1] if negative else low[1], "RU": low[1] if negative else high[1],
            "RO": low[1] if low[1] % 2 else high[1],
            "RNE": even if size == middle else low[1] if size < middle else high[1],
            "RNA": low[1] if size < middle else high[1],
        }[mode]  # fmt: skip
    sign = form.sign_bit if negative else 0
    if field <= form.max_finite:
        return sign | field if field else form.negative_zero if negative else 0
    if overflows_to_largest(overflow, mode, negative) or form.nan is None:  # type: ignore[arg-type]  # one of each
        return sign | form.max_finite
    return form.nan if form.specials == "fnuz" else sign | form.max_finite + 1


@pytest.mark.parametrize(
    ("K", "P", "signed", "extended"),
    [pytest.param(*each, marks=[pytest.mark.long] * (each[0] > 5)) for each in p3109_formats() if each[1] > 1],
)
def test_every_value_of_p3109_and_between_is_encoded(K: int, P: int, signed: bool, extended: bool) -> None:
    check_encoding(p3109_format(K, P, signed, extended))


@pytest.mark.parametrize("specials", ["fn", "finite", "ieee", "fnuz"])
def test_every_value_of_other_kinds_is_encoded(specials: Specials) -> None:
    for exp_bits, man_bits, bias in ((2, 3, -9), (3, 2, 40), (4, 1, 7)):
        fields = {"exp_bits": exp_bits, "man_bits": man_bits, "bias": bias, "specials": specials}
        check_encoding(format_from_fields("f", fields))


def check_encoding(form: Format) -> None:
    numbers = [number for number, _ in places(form)]
    values = [*numbers[1:], *((low * (4 - k) + high * k) / 4 for low, high in pairwise(numbers) for k in (1, 2, 3))]
    below = form.e_min - form.man_bits - 4
    for value in values:
        for signed_value in (value, -value) if form.signed else (value,):
            scaled = signed_value / Fraction(2) ** below
            assert scaled.denominator == 1
            for mode in MODES:
                for overflow in OVERFLOWS if abs(signed_value) > (form.value(form.max_finite) or 0) else OVERFLOWS[:1]:
                    code = form.encode_scaled(int(scaled), below, mode, overflow)
                    assert code == expected(form, signed_value, mode, overflow), (form, signed_value, mode, overflow)


def test_e3m4_is_that_of_ml_dtypes() -> None:
    form = format_from_fields("e3m4", {"exp_bits": 3, "man_bits": 4, "bias": 3, "specials": "ieee"})
    codes = np.arange(256, dtype=np.uint8)
    peer = codes.view(ml_dtypes.float8_e3m4).astype(np.float64)
    for code in range(256):
        value = decoded(form, code)
        assert str(float(value) if isinstance(value, Fraction) else value) == str(peer[code]).replace("-nan", "nan") or (
            value == 0 and peer[code] == 0
        )
    between = np.array([float(number) for number, _ in places(form)])
    between = np.concatenate([between, (between[1:] + between[:-1]) / 2])
    rounded = between.astype(ml_dtypes.float8_e3m4).view(np.uint8)
    assert [form.encode(Fraction(value)) for value in between] == rounded.tolist()


def test_dlfloat_has_a_zero_no_subnormals_and_one_code_that_is_no_number() -> None:
    """A. Agrawal et al., DLFloat, ARITH 2019: 1-6-9, bias 31; the code of the exponent 63 and a mantissa of ones is Inf and
    NaN."""
    fields = {"exp_bits": 6, "man_bits": 9, "bias": 31, "specials": "merged", "subnormals": False}
    form = format_from_fields("dlfloat16", fields)
    for code in range(1 << 15):
        exponent, mantissa = divmod(code, 512)
        value: Value = (1 + Fraction(mantissa, 512)) * Fraction(2) ** (exponent - 31)
        value = Fraction(0) if code == 0 else "nan" if code == 0x7FFF else value
        assert decoded(form, code) == value
        assert decoded(form, code | 0x8000) == (value if value == "nan" else -value)  # type: ignore[operator]  # a number
        if value and value != "nan":
            assert form.encode(Fraction(value)) == code
    smallest = Fraction(2) ** -31
    assert [form.encode(smallest * Fraction(n, 2048)) for n in (2052, 2051, 2050, 2049, 2048, 1)] == [1, 1, 0, 0, 0, 0]
    assert form.encode(Fraction(-smallest), "RD") == 0x8000
    assert form.encode((2 - Fraction(1, 1024)) * Fraction(2) ** 32) == 0x7FFF
