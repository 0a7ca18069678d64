"""Decoding, and encoding to nearest even, of every format, against NumPy and ml_dtypes: exhaustive up to 16 bits."""

import ast
import re
from fractions import Fraction
from math import copysign, isinf, isnan
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from golden import FORMATS, Cls, Format
from golden.arithmetic.formats import E8M13, INTEGERS
from golden.arithmetic.rounding import Mode
from tests.golden.peer_formats import cast, floats, last_magnitude, magnitude

FLOATS = [f for f in FORMATS.values() if f.name not in INTEGERS]
NARROW = [f for f in FLOATS if f.width <= 16]
WIDE = [f for f in (*FLOATS, E8M13) if f.width > 16]


OTHER_MODES: tuple[Mode, ...] = ("RZ", "RD", "RU", "RNA")


def all_codes(operand: Format) -> np.ndarray:
    return np.arange(operand.codes, dtype=f"uint{operand.storage_bits}")


def sampled_codes(operand: Format) -> np.ndarray:
    """Every stored exponent under the corners of the mantissa, both signs, and 20,000 random codes."""
    man_bits = operand.man_bits + operand.pad_bits
    mantissas = [0, 1, 2, (1 << man_bits) - 1, (1 << man_bits) - 2, 1 << (man_bits - 1), (1 << operand.pad_bits) - 1]
    corners = [
        (((sign << operand.exp_bits) + stored) << man_bits) + mantissa
        for sign in (0, 1)
        for stored in range(1 << operand.exp_bits)
        for mantissa in mantissas
    ]
    rng = np.random.default_rng(20_001)
    rest = rng.integers(0, operand.codes, 20_000, dtype=np.uint64)
    return np.concatenate([np.array(corners, np.uint64), rest]).astype(f"uint{operand.storage_bits}")


def class_of(value: float, smallest_normal: float) -> Cls:
    """The class that a peer's float belongs to."""
    if isnan(value):
        return Cls.NAN
    if isinf(value):
        return Cls.INFINITY
    if value == 0:
        return Cls.ZERO
    return Cls.SUBNORMAL if abs(value) < smallest_normal else Cls.NORMAL


def check_decode(operand: Format, codes: np.ndarray) -> None:
    smallest_normal = float(magnitude(operand, 1 << operand.man_bits if operand.subnormals else 0))
    for code, value in zip(codes.tolist(), map(float, floats(operand, codes)), strict=True):
        sign, exp, sig, cls = operand.decode(code)
        assert cls is class_of(value, smallest_normal), hex(code)
        if cls is not Cls.NAN:
            assert sign == (copysign(1, value) < 0), hex(code)
        if cls >= Cls.INFINITY:
            assert (operand.value(code), sig) == (None, 0), hex(code)
            continue
        numerator, denominator = value.as_integer_ratio()
        exact, place = operand.value(code), exp - operand.man_bits
        assert exact is not None
        assert exact.as_integer_ratio() == (numerator, denominator), hex(code)
        signed = -sig if sign else sig
        assert (signed * denominator) << max(place, 0) == numerator << max(-place, 0), hex(code)
        assert (exp == operand.e_min) if cls is not Cls.NORMAL else (sig >> operand.man_bits == 1), hex(code)


@pytest.mark.slow
@pytest.mark.parametrize("operand", NARROW, ids=str)
def test_decode_of_every_code(operand: Format) -> None:
    check_decode(operand, all_codes(operand))


@pytest.mark.slow
@pytest.mark.parametrize("operand", WIDE, ids=str)
def test_decode_of_wide_formats(operand: Format) -> None:
    check_decode(operand, sampled_codes(operand))


@pytest.mark.parametrize("operand", [*NARROW, *WIDE], ids=str)
def test_range_ends_where_the_peer_says(operand: Format) -> None:
    top = last_magnitude(operand)
    assert operand.value(operand.max_finite) == magnitude(operand, top)
    assert magnitude(operand, top) < Fraction(2) ** (operand.e_max + 1) <= 2 * magnitude(operand, top)
    assert magnitude(operand, 1 << operand.man_bits if operand.subnormals else 0) == Fraction(2) ** operand.e_min


@pytest.mark.parametrize("operand", [*NARROW, *WIDE], ids=str)
def test_special_codes_are_what_they_are_named(operand: Format) -> None:
    if operand.nan is not None:
        assert operand.decode(operand.nan).cls is Cls.NAN
    if operand.infinity is None:
        with pytest.raises(ValueError, match=rf"^{operand.name} has no infinity$"):
            operand.signed_infinity(0)
    else:
        for sign in (0, 1):
            parts = operand.decode(operand.signed_infinity(sign))
            assert (parts.sign, parts.cls) == (sign, Cls.INFINITY)
    if operand.subnormals:
        parts = operand.decode(operand.negative_zero)
        assert (parts.cls, parts.sign) == (Cls.ZERO, operand.signed and operand.specials != "fnuz")


@pytest.mark.parametrize("operand", [*NARROW, *WIDE], ids=str)
def test_nan_that_is_written_is_the_quiet_one_of_the_peer(operand: Format) -> None:
    if operand.specials == "finite":
        assert operand.nan is None
    else:
        quiet = int(cast(operand, np.array([np.nan]))[0])
        assert operand.nan == quiet & ((1 << (operand.width - 1)) - 1 if operand.specials == "ieee" else 0xFF)


@pytest.mark.slow
@pytest.mark.parametrize("operand", [*NARROW, *WIDE], ids=str)
def test_encode_returns_the_code_it_decoded(operand: Format) -> None:
    codes = all_codes(operand) if operand.width <= 16 else sampled_codes(operand) >> operand.pad_bits << operand.pad_bits
    for code in codes.tolist():
        value = operand.value(code)
        if value is None or (operand.name == "ue4m3" and code > 0x7F):  # its codes with the ignored bit come twice
            continue
        expected = code if value or not operand.subnormals else 0
        for mode in ("RNE", OTHER_MODES[code >> operand.pad_bits & 3]):
            assert operand.encode(value, mode) == expected, (hex(code), mode)


def ml_dtypes_departs(operand: Format, value: float) -> bool:
    """Cases in which ml_dtypes' conversion to a scale does not round to nearest, or is undefined.

    ue8m0: zero, which the format lacks, is NaN there and the smallest scale here; from 2^−127 to 1.5·2^−127 it gives
    2^−126, though 2^−127 is nearer. ue4m3 has no dtype of its own, and float8_e4m3fn keeps the sign of what is negative.
    """
    if operand.name == "ue8m0":
        return value == 0 or 2.0**-127 < value < 1.5 * 2.0**-127
    return operand.name == "ue4m3" and bool(np.signbit(value))


QUICK = {"from fp16": ("bf16", "e4m3", "e5m2fnuz", "ue4m3", "e2m1"), "from bf16": ("fp16", "ue8m0", "e5m2")}
"""Formats that `make test` encodes values to: one of each kind of special values, and those of both 16-bit widths and of
scales. bf16's values are for the widest ranges: of those in between, fp16's overflow all the others."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operand", "source"),
    [
        pytest.param(operand, source, id=f"{operand}-{name}", marks=() if operand.name in QUICK[name] else pytest.mark.long)
        for name, source in (("from fp16", np.float16), ("from bf16", ml_dtypes.bfloat16))
        for operand in NARROW
    ],
)
def test_encode_to_nearest_even_of_every_16_bit_value(operand: Format, source: type) -> None:
    values: npt.NDArray[Any] = np.arange(1 << 16, dtype=np.uint16).view(source)
    with np.errstate(invalid="ignore"):  # conversions of signalling NaNs
        exact = values.astype(np.float64).tolist()
    checked = 0
    for value, expected in zip(exact, cast(operand, values).tolist(), strict=True):
        if np.isfinite(value) and not ml_dtypes_departs(operand, value):
            got = operand.encode(value)
            if value == 0 and np.signbit(value):
                got = operand.negative_zero  # a rational zero has no sign to keep
            assert got == expected, value
            checked += 1
    assert checked > 31_000


def test_tf32_drops_thirteen_bits_before_it_looks_for_nan() -> None:
    tf32 = FORMATS["tf32"]
    assert tf32.decode(0x7F80_1FFF).cls is Cls.INFINITY
    assert tf32.decode(0x7F80_2000).cls is Cls.NAN
    assert tf32.decode(0x0000_1FFF).cls is Cls.ZERO


@pytest.mark.parametrize(
    ("name", "code", "split", "described"),
    [
        ("fp16", 0x3C01, "0_01111_0000000001", "fp16 0x3c01 0_01111_0000000001 normal sign=0 exp=0 sig=0x401 = +1025·2^-10"),
        ("fp16", 0x8001, "1_00000_0000000001", "fp16 0x8001 1_00000_0000000001 subnormal sign=1 exp=-14 sig=0x1 = -1·2^-24"),
        ("e4m3fnuz", 0x80, "1_0000_000", "e4m3fnuz 0x80 1_0000_000 nan sign=1"),
        ("e5m2", 0xFC, "1_11111_00", "e5m2 0xfc 1_11111_00 infinity sign=1"),
        ("e2m1", 0x9, "1_00_1", "e2m1 0x09 1_00_1 subnormal sign=1 exp=0 sig=0x1 = -1·2^-1"),
        ("ue8m0", 0x80, "10000000", "ue8m0 0x80 10000000 normal sign=0 exp=1 sig=0x1 = +1·2^1"),
        ("ue4m3", 0x80, "1_0000_000", "ue4m3 0x80 1_0000_000 zero sign=0 exp=-6 sig=0x0 = +0·2^-9"),
        (
            "tf32", 0xBF80_2001, "1_01111111_0000000001_0000000000001",
            "tf32 0xbf802001 1_01111111_0000000001_0000000000001 normal sign=1 exp=0 sig=0x401 = -1025·2^-10",
        ),
    ],
)  # fmt: skip
def test_code_in_words(name: str, code: int, split: str, described: str) -> None:
    assert FORMATS[name].split(code) == split
    assert FORMATS[name].describe(code) == described


def asked_by_name(text: str) -> list[str]:
    """The comparisons of a source that ask whether a name is that of a format."""
    found = list[str]()
    if not re.search(r"\.name\b", text) or not any(f'"{name}"' in text for name in (*FORMATS, "e8m13")):
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = {each.value for side in sides for each in ast.walk(side) if isinstance(each, ast.Constant)}
            asks = any(isinstance(side, ast.Attribute) and side.attr == "name" for side in sides)
            found += [ast.unparse(node)] if asks and named & {*FORMATS, "e8m13"} else []
    return found


def test_no_source_asks_for_a_format_by_its_name() -> None:
    """A format is its fields: one of a unit's own is treated as the equal one of golden, whatever it is called."""
    assert asked_by_name('if d.name == "fp64" or not "bf16" != x.a.name: pass') == ["d.name == 'fp64'", "'bf16' != x.a.name"]
    assert asked_by_name('if a.name not in ("tf32", "bf16"): pass')
    root = Path(__file__).parents[3]
    sources = [path for name in ("golden", "rtl", "cosim", "mmau", "hwtests") for path in (root / name).rglob("*.py")]
    assert len(sources) > 500
    assert {path.name: found for path in sources if (found := asked_by_name(path.read_text(encoding="utf-8")))} == {}
