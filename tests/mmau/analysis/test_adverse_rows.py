"""Rows that are built, rows beside a row, and the exact value of a row."""

import random
from fractions import Fraction

import pytest

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.stimulus import Row
from mmau.analysis.adverse_rows import Arithmetic, changed, gapped_rows, product_codes, stimulus_rows
from tests.golden.distinct_arithmetics import arithmetics

VOLTA = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))
SCALED = Arithmetic.of_instruction(next(i for i in golden.instructions("sm_120") if i.scale is not None))


def test_products_of_gapped_rows_lie_so_far_below_c() -> None:
    rows = list(gapped_rows(VOLTA, [7]))
    assert rows
    for row in rows:
        for p, q in zip(row.a, row.b, strict=True):
            assert FP32.decode(row.c).exp - FP16.decode(p).exp - FP16.decode(q).exp == 7


def test_product_codes_add_up_to_the_exponent_or_there_are_none() -> None:
    for exp in range(-28, 31):
        codes = product_codes(VOLTA, exp)
        assert codes is not None
        assert (VOLTA.a.value(codes[0]) or 0) * (VOLTA.b.value(codes[1]) or 0) == 2.0**exp
    assert product_codes(VOLTA, 31) is None
    assert product_codes(VOLTA, -29) is None


def test_changed_rows_are_codes_of_the_formats_and_differ() -> None:
    rng = random.Random(0)
    for arithmetic in (VOLTA, SCALED):
        start = stimulus_rows(arithmetic, 1, 0)[0]
        rows = [changed(start, arithmetic, rng) for _ in range(200)]
        assert sum(row != start for row in rows) > 150
        for row in rows:
            assert all(0 <= code < arithmetic.a.codes for code in row.a)
            assert 0 <= row.c < arithmetic.c.codes
            arithmetic(row)


def by_fractions(arithmetic: Arithmetic, row: Row) -> Fraction:
    """The same, the plain way."""
    o, total = arithmetic.chain.operation, arithmetic.c.value(row.c) or Fraction(0)
    for k, (p, q) in enumerate(zip(row.a, row.b, strict=True)):
        product = (arithmetic.a.value(p) or Fraction(0)) * (arithmetic.b.value(q) or Fraction(0))
        if o.scale_format is not None and o.block_size is not None:
            for scales in (row.scale_a, row.scale_b):
                product *= o.scale_format.value(scales[k // o.block_size]) or Fraction(0)
        total += product
    return total


@pytest.mark.slow
def test_exact_value_is_the_sum_of_fractions() -> None:
    """One arithmetic of each operation, scaled ones too."""
    one_each = {i.operation.name: i for i in arithmetics()}
    for i in one_each.values():
        arithmetic = Arithmetic.of_instruction(i)
        found = [(row, arithmetic.exact(row)) for row in stimulus_rows(arithmetic, 24, 1)]
        finite = [(row, exact) for row, exact in found if exact is not None]
        assert finite
        for row, exact in finite:
            assert exact == by_fractions(arithmetic, row)


def test_infinite_and_nan_operands_have_no_exact_value() -> None:
    arithmetic = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))
    assert FP16.infinity is not None
    for code in (FP16.infinity, FP16.nan or 0):
        assert arithmetic.exact(Row(a=(code, 0, 0, 0), b=(0, 0, 0, 0), c=0)) is None
