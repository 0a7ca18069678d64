"""Decisions of numerics.md, section 12, on points that the sources leave open."""

import golden
from golden.arithmetic.formats import BF16, E4M3, E5M2, FP16, FP32, UE8M0
from golden.operations import GSTFDPA, GTRFDPA, TFDPA, TRFDPA, FTZAddMul, Operation
from golden.stimulus.codes import nans

ONE, MINUS = FP16.encode(1), FP16.encode(-1)
NEGATIVE_ZERO = 1 << 31


def step(operation: Operation, a: list[int], b: list[int], c: int, scales: tuple[list[int], list[int]] = ([], [])) -> int:
    return operation.step(a, b, c, *scales)


def test_nan_that_is_written() -> None:
    tr = TRFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, F2=31)
    to_bf16 = TFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, rho="RNE-BF16", e_zero=-132)
    for code in nans(FP16):
        assert step(tr, [code], [ONE], 0) == 0x7FC00000
        assert step(to_bf16, [code], [ONE], 0) == 0x7FFF


def test_tr_fdpa_with_rz_keeps_the_sign_of_a_sum_of_which_nothing_is_left() -> None:
    """At exponent −126 the sum has 32 fraction bits in step 4 and keeps 31 in step 5: −2^−158 goes in step 5 and leaves its
    sign, −2^−160 goes in step 4 and leaves an exact zero."""
    rz = TRFDPA(a=BF16, b=BF16, c=FP32, L=1, F=24, F2=31, truncation="RZ")
    for exp, result in ((-79, NEGATIVE_ZERO), (-80, 0)):
        a, b = BF16.encode(-(2.0**exp)), BF16.encode(2.0**exp)
        assert step(rz, [a], [b], 0) == result
        assert step(rz, [a ^ 0x8000], [b], 0) == 0


def test_gtr_fdpa_of_one_product_has_one_group() -> None:
    gtr = GTRFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, F2=31)
    assert step(gtr, [ONE], [MINUS], FP32.encode(3)) == FP32.encode(2)


def test_products_that_overflow_in_tr_fdpa_are_infinities_of_their_signs() -> None:
    tr = TRFDPA(a=BF16, b=BF16, c=FP32, L=2, F=24, F2=31)
    big, minus = BF16.encode(2.0**64), BF16.encode(-(2.0**64))
    assert step(tr, [big, 0], [big, 0], FP32.max_finite | 1 << 31) == FP32.infinity
    assert step(tr, [big, big], [big, minus], 0) == FP32.nan


def test_infinite_product_under_a_zero_scale_is_nan() -> None:
    gst = GSTFDPA(a=E5M2, b=E5M2, c=FP32, L=1, G=1, K_block=1, F=35, rho="RZ-FP32", e_zero=-139, scale="ue4m3")  # type: ignore[arg-type]
    infinity, one = E5M2.signed_infinity(0), E5M2.encode(1)
    assert step(gst, [infinity], [one], 0, ([0], [0x38])) == 0x7FFFFFFF
    assert step(gst, [infinity], [one], 0, ([0x38], [0x38])) == FP32.infinity
    assert step(gst, [0], [one], 0, ([0x7F], [0x38])) == 0x7FFFFFFF


def test_flushed_input_times_a_negative_number_is_minus_zero() -> None:
    ftz = FTZAddMul(a=FP16, b=FP16, c=FP32, P=1)
    for subnormal in (1, 1 | FP16.negative_zero):
        assert step(ftz, [subnormal], [MINUS], NEGATIVE_ZERO) == NEGATIVE_ZERO
        assert step(ftz, [subnormal], [ONE], NEGATIVE_ZERO) == 0


def test_fp8_as_fp16_work_never_gives_minus_zero_and_may_overflow_on_the_way() -> None:
    chain = golden.instruction("sm_90", "mma.m16n8k32.f16.e5m2.e5m2.f16").chain
    zeros, ones = [0] * 32, [E5M2.encode(1)] * 32
    assert chain(zeros, ones, FP16.negative_zero) == 0
    assert chain([E5M2.nan or 0, *zeros[1:]], ones, 0) == 0x7FFF
    largest = [E5M2.max_finite] * 32
    assert chain(largest, ones, FP16.max_finite | FP16.negative_zero) == FP16.infinity


def test_encoding_into_formats_without_infinities() -> None:
    assert E4M3.encode(2.0**20) == E4M3.nan
    assert golden.FORMATS["e2m1"].encode(2.0**20) == golden.FORMATS["e2m1"].max_finite
    assert UE8M0.encode(-1) == UE8M0.nan
    assert UE8M0.encode(0) == 0
