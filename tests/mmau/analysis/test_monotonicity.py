"""Monotonicity."""

from itertools import chain

import pytest

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.chains.chain import Chain
from golden.stimulus import Place, Row
from mmau.analysis.adverse_rows import Arithmetic
from mmau.analysis.monotonicity import Fall, fall, random_cases, staircases

VOLTA = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))


def first(arithmetic: Arithmetic, rows: int = 20) -> Fall | None:
    cases = chain(staircases(arithmetic), random_cases(arithmetic, rows, 0))
    return next((found for row, place in cases if (found := fall(arithmetic, row, place)) is not None), None)


def test_published_example_falls() -> None:
    """M. Fasi et al.: c = 1 − 2^−24 with four products 2^−24 on V100."""
    half, quarter = FP16.encode(2.0**-12), FP16.encode(2.0**-12)
    below = FP32.encode(1) - 1
    row = Row(a=(half,) * 4, b=(quarter,) * 4, c=below)
    found = fall(VOLTA, row, Place("c"))
    assert found is not None
    assert (found.d, found.after) == (FP32.encode(1) + 1, FP32.encode(1))


@pytest.mark.slow
def test_first_fall_of_volta_has_three_products_and_none_has_fewer() -> None:
    found = first(VOLTA)
    assert found is not None
    assert sum(1 for p, q in zip(found.row.a, found.row.b, strict=True) if p and q) == 3
    assert fall(VOLTA, found.row, found.place) == found
    two = Arithmetic(name="two", chain=Chain(VOLTA.chain.operation.changed(L=2)), a=VOLTA.a, b=VOLTA.b, K=2)
    assert first(two) is None


@pytest.mark.slow
def test_product_that_is_raised_may_lower_the_result_where_c_joins_last() -> None:
    hopper = Arithmetic.of_instruction(golden.instruction("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32"))
    found = first(hopper, 0)
    assert found is not None
    assert found.place.name == "a"


def test_exact_sums_are_monotonic() -> None:
    exact = Arithmetic.of_instruction(golden.instruction("gfx908", "v_mfma_f32_4x4x2bf16"))
    assert first(exact) is None
