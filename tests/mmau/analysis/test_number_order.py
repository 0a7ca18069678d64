"""Neighbours and negatives of codes."""

import pytest

from golden.arithmetic.formats import FORMATS
from mmau.analysis.monotonicity import negated, next_up, number_of


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e4m3fnuz", "e2m1", "e3m2"])
def test_next_up_walks_through_every_finite_number(name: str) -> None:
    operand = FORMATS[name]
    values = sorted({operand.value(code) for code in range(operand.codes)} - {None})  # type: ignore[type-var]
    code: int | None = operand.max_finite | (operand.negative_zero or 1 << (operand.width - 1))
    walked = []
    while code is not None:
        walked.append(operand.value(code))
        code = next_up(code, operand)
    assert walked == values


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e4m3fnuz", "e2m1"])
def test_negated_twice_is_the_same(name: str) -> None:
    operand = FORMATS[name]
    for code in range(operand.codes):
        x, y = number_of(code, operand), number_of(negated(code, operand), operand)
        assert (x is None and y is None) or (x is not None and y is not None and x == -y)
        assert negated(negated(code, operand), operand) == code
