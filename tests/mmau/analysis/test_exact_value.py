"""The exact value of a row."""

from fractions import Fraction

import pytest

import golden
from golden.arithmetic.formats import FP16
from golden.stimulus import Row
from mmau.analysis.adverse_rows import stimulus_rows
from mmau.analysis.exact_value import Arithmetic
from tests.golden.distinct_arithmetics import arithmetics


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
