"""Symmetry."""

from itertools import chain

import pytest

import golden
from golden.arithmetic.formats import FORMATS, FP16, FP32
from golden.chains.chain import Chain
from golden.stimulus import Row
from mmau.analysis.adverse_rows import Arithmetic, gapped_rows, stimulus_rows
from mmau.analysis.monotonicity import Asymmetry, asymmetry, pairs

CDNA3 = golden.instruction("gfx942", "v_mfma_f32_4x4x4_16b_f16")


def arithmetic(truncation: str) -> Arithmetic:
    operation = CDNA3.operation.changed(truncation=truncation)
    return Arithmetic(name=truncation, chain=Chain(operation), a=CDNA3.a, b=CDNA3.b, K=CDNA3.k)


def first(arithmetic: Arithmetic) -> Asymmetry | None:
    rows = chain(pairs(arithmetic), gapped_rows(arithmetic, range(48)), stimulus_rows(arithmetic, 20, 0))
    return next((found for row in rows if (found := asymmetry(arithmetic, row)) is not None), None)


def test_rounding_down_is_asymmetric_and_toward_zero_is_not() -> None:
    found = first(arithmetic("RD"))
    assert found is not None
    assert FP32.decode(found.d)[1:] != FP32.decode(found.mirrored)[1:]
    assert first(arithmetic("RZ")) is None


@pytest.mark.slow
def test_output_rounded_up_is_asymmetric() -> None:
    operation = golden.instruction("sm_80", "mma.m16n8k8.f32.f16.f16.f32").operation.changed(rho="RU-FP32")
    up = Arithmetic(name="up", chain=Chain(operation), a=operation.a, b=operation.b, K=8)
    assert first(up) is not None


def test_zeros_and_nans_of_both_signs_count_as_one() -> None:
    volta = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))
    one = FP16.encode(1)
    assert asymmetry(volta, Row(a=(one, 0, 0, 0), b=(one, 0, 0, 0), c=FP32.encode(-1))) is None
    assert asymmetry(volta, Row(a=(FP16.nan or 0, 0, 0, 0), b=(one, 0, 0, 0), c=0)) is None
    fnuz = Arithmetic.of_instruction(golden.instruction("gfx942", "v_mfma_f32_32x32x16_fp8_fp8"))
    nan = FORMATS["e4m3fnuz"].nan or 0
    assert asymmetry(fnuz, Row(a=(nan,) * 16, b=(nan,) * 16, c=0)) is None
