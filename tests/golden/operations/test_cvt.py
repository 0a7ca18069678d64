"""CVT beside NumPy's and ml_dtypes' conversions, code by code, and beside conversions that are wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import golden
from golden import Unit
from golden.arithmetic.formats import FORMATS, Format
from golden.arrays import BitArray, bits_dtype, float_dtype
from golden.comparison import is_nan
from golden.operations import CVT
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import unit_from_table

NARROW = [name for name, of in FORMATS.items() if of.exp_bits and of.has_zero and of.signed and of.width <= 16]
"""Formats of which every code is converted."""

WIDE = ("fp32", "fp64")


def unit(**keys: Any) -> Unit:
    return Unit(name="u", operation=CVT(**keys))


def cast(codes: BitArray, a: Format, d: Format) -> BitArray:
    """What NumPy and ml_dtypes convert codes to."""
    of_a, of_d = np.dtype(float_dtype(a)), np.dtype(float_dtype(d))
    with np.errstate(all="ignore"):
        return codes.view(of_a).astype(of_d).view(bits_dtype(d))


@pytest.mark.parametrize("a", [*NARROW, *WIDE])
def test_conversions_to_nearest_are_those_of_numpy(a: str) -> None:
    """To every format that takes a's NaNs and infinities, from all codes; of wide formats from rows beside results."""
    of_a, compared = FORMATS[a], 0
    for d in (*NARROW, *WIDE):
        of_d = FORMATS[d]
        if (of_d.nan is None and of_a.nan is not None) or (a == "fp64" and d not in ("fp16", *WIDE)):
            continue  # ml_dtypes converts a double by way of fp32, rounded twice, which these rows show
        finite = {"overflow": "saturate"} if of_d.nan is None else {}
        model = unit(a=a, rho=f"RNE-{d.upper()}", **finite)
        drawn = generate(OperandShape.of(model), 4000, 3).operands.a[:, 0]
        codes = drawn if a in WIDE else np.arange(of_a.codes).astype(bits_dtype(of_a))
        got, expected = model.dot(codes[:, None]), cast(codes, of_a, of_d)
        nans = is_nan(got, of_d), is_nan(expected, of_d)
        np.testing.assert_array_equal(*nans)
        np.testing.assert_array_equal(got[~nans[0]], expected[~nans[0]])
        compared += 1
    assert compared >= 3


ROWS = [
    # above the largest finite number of e4m3, 448: the tie at 464 stays, what is above it does not
    ({"a": "fp32", "rho": "RNE-E4M3"}, 0x43E80000, 0x7E),
    ({"a": "fp32", "rho": "RNE-E4M3"}, 0x43E80001, 0x7F),
    ({"a": "fp32", "rho": "RNE-E4M3"}, 0xC3E80001, 0xFF),
    ({"a": "fp32", "rho": "RZ-E4M3"}, 0x43EFFFFF, 0x7E),
    ({"a": "fp32", "rho": "RZ-E4M3"}, 0x43F00000, 0x7F),
    ({"a": "fp32", "rho": "RNE-E4M3", "overflow": "saturate"}, 0xC3E80001, 0xFE),
    ({"a": "fp32", "rho": "RNE-E4M3", "overflow": "saturate"}, 0x7F800000, 0x7F),
    ({"a": "fp32", "rho": "RNE-E4M3FNUZ"}, 0x80000000, 0x00),
    ({"a": "fp32", "rho": "RNE-E4M3FNUZ"}, 0x43F80000, 0x80),
    # zeros keep their sign in every mode
    *(({"a": "fp32", "rho": f"{mode}-FP16"}, 0x80000000, 0x8000) for mode in ("RNE", "RD", "RU", "RZ", "RO", "RNA")),
    # what rounds to zero keeps it too
    ({"a": "fp32", "rho": "RNE-FP16"}, 0x80000001, 0x8000),
    ({"a": "fp32", "rho": "RD-FP16"}, 0x80000001, 0x8001),
    ({"a": "fp32", "rho": "RO-FP16"}, 0x00000001, 0x0001),
    # just below the smallest normal number, flushed or not
    ({"a": "fp32", "rho": "RNE-FP16"}, 0x387FDFFF, 0x03FF),
    ({"a": "fp32", "rho": "RNE-FP16", "flush_results": True}, 0x387FDFFF, 0x0000),
    ({"a": "fp32", "rho": "RNE-FP16", "flush_results": True}, 0x387FF000, 0x0400),
    ({"a": "fp16", "rho": "RNE-FP32", "flush_inputs": True}, 0x83FF, 0x80000000),
    # overflow by mode
    ({"a": "fp32", "rho": "RU-FP16", "overflow": "by-mode"}, 0x477FF000, 0x7C00),
    ({"a": "fp32", "rho": "RU-FP16", "overflow": "by-mode"}, 0xC77FF000, 0xFBFF),
    # the NaN of an operand: its sign, and the high bits of its fraction
    ({"a": "fp32", "rho": "RNE-FP16", "nan": "first"}, 0xFF802001, 0xFE01),
    ({"a": "fp32", "rho": "RNE-FP16", "nan": "first"}, 0x7F801FFF, 0x7E00),
    ({"a": "fp16", "rho": "RNE-FP32", "nan": "first"}, 0xFC01, 0xFFC02000),
    ({"a": "fp32", "rho": "RNA-TF32", "nan": "first"}, 0x7F9FFFFF, 0x7FDFE000),
    ({"a": "fp32", "rho": "RNE-FP16"}, 0xFF802001, 0x7E00),
    # cvt.rna.tf32.f32: nearest, ties away
    ({"a": "fp32", "rho": "RNA-TF32"}, 0x3F801000, 0x3F802000),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "a", "d"), ROWS)
def test_rows_of_the_rules(keys: dict[str, Any], a: int, d: int) -> None:
    model = unit(**keys)
    for engine in ("native", "reference"):
        assert int(model.dot(np.array([a], bits_dtype(model.a)), engine=engine)) == d


def test_exponents_far_beyond_those_of_d() -> None:
    """From 15 exponent bits to d: the library's field is as wide as a word."""
    far = {"exp_bits": 15, "man_bits": 40, "bias": 1, "specials": "ieee"}
    table = {"name": "u", "operation": "CVT", "a": "far", "rho": "RNE-FP64", "formats": {"far": far}}
    model, of_a = unit_from_table(table), unit_from_table(table).operation.a
    codes = np.array([code << 40 for code in range(0, 1 << 15, 37)], np.uint64)[:, None]
    np.testing.assert_array_equal(model.dot(codes, engine="native"), model.dot(codes, engine="reference"))
    assert of_a.e_max > 2 * model.d.e_max


HALF = {"a": "fp32", "rho": "RNE-FP16"}


def truncated(a: BitArray) -> BitArray:
    return unit(a="fp32", rho="RZ-FP16", overflow="infinity").dot(a)


def zero_without_sign(a: BitArray) -> BitArray:
    d = unit(**HALF).dot(a)
    return np.where(d == 0x8000, 0, d)


def rounded_twice(a: BitArray) -> BitArray:
    return unit(a="tf32", rho="RNE-FP16").dot(unit(a="fp32", rho="RNE-TF32").dot(a)[:, None])


def subnormal_flushed(a: BitArray) -> BitArray:
    return unit(**HALF, flush_results=True).dot(a)


def sticky_lost(a: BitArray) -> BitArray:
    """The guard bit alone decides, and of a tie the last bit: bits below the guard bit of a normal result are dropped."""
    return unit(**HALF).dot(np.where(a >> 23 & 0xFF > 112, a & ~np.uint32(0xFFF), a))


def overflow_wraps(a: BitArray) -> BitArray:
    d = unit(**HALF).dot(a)
    beyond = (d & 0x7FFF == 0x7C00) & (a[:, 0] & 0x7FFFFFFF < 0x7F800000)
    return np.where(beyond, d & 0x8000 | a[:, 0] >> 13 & 0x3FF, d)


def ties_away(a: BitArray) -> BitArray:
    return unit(a="fp32", rho="RNA-FP16").dot(a)


def subnormal_operand_as_zero(a: BitArray) -> BitArray:
    return unit(a="fp32", rho="RU-FP16", flush_inputs=True).dot(a)


WRONG: dict[str, tuple[Callable[[BitArray], BitArray], str]] = {
    "truncated": (truncated, "RNE-FP16"), "zero without sign": (zero_without_sign, "RNE-FP16"),
    "rounded twice": (rounded_twice, "RNE-FP16"), "subnormal flushed": (subnormal_flushed, "RNE-FP16"),
    "sticky lost": (sticky_lost, "RNE-FP16"), "overflow wraps": (overflow_wraps, "RNE-FP16"),
    "ties away": (ties_away, "RNE-FP16"), "subnormal operand as zero": (subnormal_operand_as_zero, "RU-FP16"),
}  # fmt: skip


@pytest.mark.attack("conversions that truncate, round twice, lose a sign, a sticky bit, subnormals or the range")
@pytest.mark.parametrize("name", WRONG)
def test_rows_of_the_stimulus_tell_wrong_conversions(name: str) -> None:
    wrong, rho = WRONG[name]
    model = unit(a="fp32", rho=rho)
    a = generate(OperandShape.of(model), 1000, 1).operands.a
    differ = wrong(a) != model.dot(a)
    assert 3 <= np.count_nonzero(differ) < len(a)


def test_operands_and_keys_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="b must be left out, or \\+0: CVT has no b"):
        unit(**HALF).dot(np.ones(1, np.uint32), np.ones(1, np.uint32))
    with pytest.raises(ValueError, match="CVT has no c, so that it cannot be chained: K must be 1"):
        unit(**HALF).dot(np.ones(2, np.uint32))
    with pytest.raises(ValueError, match="nan = first needs IEEE 754's NaNs in a and d; got a=fp32, d=e4m3"):
        unit(a="fp32", rho="RNE-E4M3", nan="first")
    with pytest.raises(ValueError, match="rho must give a format that has a NaN, which a in fp32 may lead to; got RNE-E2M1"):
        unit(a="fp32", rho="RNE-E2M1", overflow="saturate")
    with pytest.raises(ValueError, match="nan must be one of quiet, first; got 'b-c-a'"):
        unit(**HALF, nan="b-c-a")
    assert golden.OPERATIONS["CVT"] is CVT
