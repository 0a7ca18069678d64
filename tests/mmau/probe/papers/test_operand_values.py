"""Values as codes: factors that the formats hold, normal ones where asked for, and texts."""

from fractions import Fraction

import pytest

from golden.arithmetic.formats import BF16, E2M1, E4M3, FORMATS, FP16, FP32, UE8M0
from golden.stimulus import OperandShape
from mmau.probe.papers.operand_values import NotHeldError, Sum, code_of, codes_of, factor_codes, power, shifts, value_text

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "e4m3fnuz"])
@pytest.mark.parametrize("value", [Fraction(1), Fraction(-3, 2), Fraction(9, 4)])
def test_factors_have_the_product(name: str, value: Fraction) -> None:
    operand = FORMATS[name]
    factors = [operand.value(code) for code in factor_codes(value, operand, operand)]
    assert None not in factors
    assert factors[0] * factors[1] == value  # type: ignore[operator]


def test_factors_are_normal_where_asked_for() -> None:
    assert factor_codes(power(-40), FP16, FP16)
    with pytest.raises(NotHeldError, match=r"^2\^-40 is no product of fp16 and fp16$"):
        factor_codes(power(-40), FP16, FP16, normal=True)


def test_values_that_formats_have_not() -> None:
    with pytest.raises(NotHeldError, match=r"^1 \+ 2\^-11 is no fp16$"):
        code_of(1 + power(-11), FP16)
    with pytest.raises(NotHeldError, match=r"^5 products are more than K=4$"):
        codes_of([Sum(0, (1,) * 5)], SHAPE)


def test_operands_of_a_sum() -> None:
    operands = codes_of([Sum(-1, (0, (2, Fraction(1, 2))))], SHAPE)
    assert [FP16.value(int(code)) for code in operands.a[0]] == [0, 2, 0, 0]
    assert [FP16.value(int(code)) for code in operands.b[0]] == [0, Fraction(1, 2), 0, 0]
    assert FP32.value(int(operands.c[0])) == -1
    assert operands.scale_a is None


def test_scales_are_one() -> None:
    shape = OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=64, scale=UE8M0, block_size=32)
    operands = codes_of([Sum(0, (1,))], shape)
    assert operands.scale_a is not None
    assert operands.scale_a.tolist() == [[UE8M0.encode(1)] * 2]


def test_shifts_are_those_that_can_fit() -> None:
    shape = OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=4)
    assert shifts([Sum(1, (power(-24),))], shape, normal=True).start == 12  # 2^-6 · 2^-6
    assert shifts([Sum(1, (power(-24),))], shape, normal=False).start == 6
    assert not shifts([Sum(0, (1, power(-60)))], shape, normal=False)
    assert shifts([Sum(1, ())], OperandShape(a=BF16, b=BF16, c=FP16, d=FP32, K=1), normal=True).stop == 16


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"), (1 + power(-23), "1 + 2^-23"), (power(-24) - 1, "-1 + 2^-24"), (Fraction(3, 4), "1 - 2^-2"),
        (Fraction(-1), "-1"), (Fraction(0b1001010101), "597·2^0"), (None, "infinity or NaN"),
    ],
)  # fmt: skip
def test_texts_of_values(value: Fraction | None, text: str) -> None:
    assert value_text(value) == text
