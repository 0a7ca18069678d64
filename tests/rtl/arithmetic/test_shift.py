"""The shifters on every value and amount at small widths, amounts beyond the width among them."""

import itertools

import pytest
from amaranth import Module, Signal, Value, unsigned

from rtl.arithmetic.shift import shift_left_narrowing, shift_right, shift_right_sticky
from tests.rtl.simulate import evaluate

SIZES = [(width, bits) for width in range(1, 7) for bits in range(1, 5)]
"""Bits of the value and of the amount."""


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_shift_gives_zero_from_the_width_on(width: int, bits: int) -> None:
    rows = list(itertools.product(range(1 << width), range(1 << bits)))
    shapes = [unsigned(width), unsigned(bits)]
    seen = evaluate(shapes, lambda m, inputs: [shift_right(m, *inputs)], rows)
    assert seen == [(value >> amount,) for value, amount in rows]


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_sticky_shift_knows_whether_a_one_was_lost(width: int, bits: int) -> None:
    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        value, amount = inputs
        return list(shift_right_sticky(m, value, amount))

    rows = list(itertools.product(range(1 << width), range(1 << bits)))
    seen = evaluate([unsigned(width), unsigned(bits)], build, rows)
    assert seen == [(value >> amount, int(value & ((1 << amount) - 1) != 0)) for value, amount in rows]


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_narrowing_shift_keeps_the_top_and_knows_whether_a_one_lies_below(width: int, bits: int) -> None:
    for keep in range(1, width + 1):

        def build(m: Module, inputs: list[Signal], keep: int = keep) -> list[Value]:
            value, amount = inputs
            top, lost = shift_left_narrowing(m, value, amount, keep)
            assert len(top) == keep
            return [top, lost]

        rows = list(itertools.product(range(1 << width), range(1 << bits)))
        seen = evaluate([unsigned(width), unsigned(bits)], build, rows)
        shifted = [(value << amount) & ((1 << width) - 1) for value, amount in rows]
        below = width - keep
        assert seen == [(value >> below, int(value & ((1 << below) - 1) != 0)) for value in shifted]
