"""Results are compared as bits; any NaN equals any NaN only where encodings are unmeasured."""

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import BF16, E2M1, E3M2, E4M3, E4M3FNUZ, FP16, FP32, FP64, UE4M3, Cls, Format
from golden.comparison import differing, is_nan

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
CDNA3 = golden.instruction("gfx942", "v_mfma_f32_16x16x8_xf32")
DOUBLE = golden.instruction("sm_80", "mma.m8n8k4.f64.f64.f64.f64")

ENDS = [0, 1, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF, 0x8000, 0xFF7F, 0xFF80, 0xFF81, 0xFFFF]
"""The upper 16 bits of codes around zero, the largest number, infinity and NaN, of both signs."""


@pytest.mark.parametrize("result", [FP16, BF16, FP32, FP64], ids=str)
def test_nan_is_what_decode_calls_one(result: Format) -> None:
    infinities = [result.signed_infinity(sign) for sign in (0, 1)]
    codes = [code << result.width - 16 for code in ENDS] + [code + low for code in infinities for low in (-1, 0, 1)]
    expected = [result.decode(code).cls is Cls.NAN for code in codes]
    assert is_nan(np.array(codes, f"uint{result.storage_bits}"), result).tolist() == expected
    assert [is_nan(code, result) for code in codes] == expected
    assert {True, False} == set(expected)


@pytest.mark.parametrize("result", [E4M3, E4M3FNUZ, UE4M3, E2M1, E3M2], ids=str)
def test_nan_of_a_small_format_is_what_decode_calls_one(result: Format) -> None:
    expected = [result.decode(code).cls is Cls.NAN for code in range(result.codes)]
    assert is_nan(np.arange(result.codes, dtype=np.uint8), result).tolist() == expected
    assert [is_nan(code, result) for code in range(result.codes)] == expected


def test_any_nan_counts_for_cdna_and_unrecorded_fp64_alone() -> None:
    gpus = [i for i in golden.instructions() if i.arch.startswith(("sm_", "gfx"))]
    fixed = [instruction.operation.nan_is_fixed() for instruction in gpus]
    open_ones = ("gfx908", "gfx90a", "gfx942", "gfx950")
    known = [i.d.name == "int32" or (i.arch not in open_ones and (i.d.name != "fp64" or i.arch == "sm_90")) for i in gpus]
    assert fixed == known


def test_bits_decide() -> None:
    got = np.array([0, 0x80000000, 0x7FC00000, 0x7FC00000, 0x7F800000], np.uint32)
    expected = np.array([0, 0, 0x7FFFFFFF, 0x7F800000, 0x7FFFFFFF], np.uint32)
    for instruction, differences in ((HOPPER, [False, True, True, True, True]), (CDNA3, [False, True, False, True, True])):
        assert differing(got, expected, instruction.operation).tolist() == differences
        scalars = [differing(*pair, instruction.operation) for pair in zip(got.tolist(), expected.tolist(), strict=True)]
        assert scalars == differences
        assert all(type(scalar) is bool for scalar in scalars)


def test_nan_of_fp64_equals_any_nan_but_no_infinity() -> None:
    infinity, nan, other = 0x7FF0 << 48, 0x7FF8 << 48, (0xFFF0 << 48) + 1
    assert not differing(nan, other, DOUBLE.operation)
    assert differing(nan, infinity, DOUBLE.operation)
