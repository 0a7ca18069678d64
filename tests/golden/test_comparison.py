"""Results are compared as bits; any NaN equals any NaN only where encodings are unmeasured."""

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import BF16, E4M3, FP16, FP32, FP64, Cls, Format
from golden.comparison import differing, is_nan

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
CDNA3 = golden.instruction("gfx942", "v_mfma_f32_16x16x8_xf32")
DOUBLE = golden.instruction("sm_90", "mma.m8n8k4.f64.f64.f64.f64")

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


def test_format_without_infinities_is_no_result() -> None:
    with pytest.raises(ValueError, match=r"^a result's format must have infinities, got e4m3$"):
        is_nan(0x7F, E4M3)


def test_any_nan_counts_for_fp64_and_cdna_alone() -> None:
    gpus = [i for i in golden.instructions() if i.arch.startswith(("sm_", "gfx"))]
    fixed = [instruction.operation.nan_is_fixed() for instruction in gpus]
    open_ones = ("gfx908", "gfx90a", "gfx942")
    assert fixed == [i.d.name == "int32" or (i.arch not in open_ones and i.d.name != "fp64") for i in gpus]


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
