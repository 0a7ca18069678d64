"""Results are compared as bits; any NaN equals any NaN only where encodings are unmeasured."""

import numpy as np

import golden
from hwtests.comparison import any_nan_counts, differing, is_nan

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
CDNA3 = golden.instruction("gfx942", "v_mfma_f32_16x16x8_xf32")
FP64 = golden.instruction("sm_90", "mma.m8n8k4.f64.f64.f64.f64")


def test_nan_of_every_sign_and_payload_is_seen() -> None:
    codes = np.array([0x7F800000, 0xFF800000, 0x7F800001, 0xFFC00000, 0x7FFFFFFF, 0, 0x80000000, 0x7F7FFFFF], np.uint32)
    assert is_nan(codes, HOPPER.d).tolist() == [False, False, True, True, True, False, False, False]


def test_any_nan_counts_for_fp64_and_amd_alone() -> None:
    assert [any_nan_counts(i) for i in (HOPPER, CDNA3, FP64)] == [False, True, True]


def test_bits_decide() -> None:
    got = np.array([0, 0x80000000, 0x7FC00000, 0x7FC00000], np.uint32)
    expected = np.array([0, 0, 0x7FFFFFFF, 0x7F800000], np.uint32)
    assert differing(got, expected, HOPPER).tolist() == [False, True, True, True]
    assert differing(got, expected, CDNA3).tolist() == [False, True, False, True]
