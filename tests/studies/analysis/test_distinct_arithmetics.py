"""Distinct arithmetics, and rows as numbers."""

import golden
from golden.formats import FP16, FP32
from golden.stimulus import Row
from mmau.analysis.exact_value import Arithmetic
from studies.analysis.distinct_arithmetics import arithmetics, numbers

VOLTA = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))


def test_arithmetics_are_distinct_and_round() -> None:
    found = arithmetics()
    assert len({(i.chain, i.k) for i in found}) == len(found)
    assert {i.operation.name for i in found} == set(golden.OPERATIONS) - {"IDPA"}


def test_numbers_name_what_is_not_zero() -> None:
    assert numbers(VOLTA, Row(a=(0, FP16.encode(-2), 0, 0), b=(0, FP16.encode(0.5), 0, 0), c=FP32.encode(2.0**-30))) == (
        "a[1]·b[1] = -2.0·0.5, c = 2^-30"
    )
