"""Single rows and shares of answers: numbers are exact, and their text is."""

import re
from fractions import Fraction

import numpy as np
import pytest

import golden
from studies.answers.gpus import exact, matrices, percent
from studies.answers.rows import code_of, shown

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(-3, 4), "−0.75"),
        (Fraction(1, 2**130), "2^−130"),
        (1 - Fraction(1, 2**24), "1 − 2^−24"),
        (-1 - Fraction(1, 2**23), "−(1 + 2^−23)"),
        (Fraction(2**24 + 3, 2**24), "0x1.0000030000000p+0"),
    ],
)
def test_number_is_shown_exactly(value: Fraction, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(Fraction(1, 3), 1)], "a number must be one of fp16, got 1/3"),
        ([(1, 1)] * 17, "a row must have at most 16 products, got 17"),
    ],
)
def test_row_that_the_instruction_cannot_hold_is_refused(pairs: list[tuple[Fraction | int, int]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        code_of(HOPPER, pairs, 0)


def test_exact_product_is_that_of_fractions() -> None:
    A, B = matrices(16)
    sums = [sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(A[0], B[:, j], strict=True)) for j in range(32)]
    fp32 = golden.FORMATS["fp32"]
    assert exact(16)[0].view(np.uint32).tolist() == [fp32.encode(total) for total in sums]


def test_share_tells_none_and_all_from_nearly() -> None:
    nearly = np.arange(10_000) > 0
    assert [percent(each) for each in (nearly, ~nearly, nearly | True, nearly & False)] == ["99.9 %", "0.1 %", "100 %", "0"]
