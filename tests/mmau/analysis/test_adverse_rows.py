"""Rows that are built, and rows beside a row."""

import random

import golden
from golden.arithmetic.formats import FP16, FP32
from mmau.analysis.adverse_rows import changed, empty_row, gapped_rows, product_codes, stimulus_rows
from mmau.analysis.exact_value import Arithmetic

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


def test_empty_row_is_zero() -> None:
    for arithmetic in (VOLTA, SCALED):
        assert arithmetic(empty_row(arithmetic)) == 0
