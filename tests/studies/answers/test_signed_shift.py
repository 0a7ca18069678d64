"""The shifts of signed sums, on every value and distance at small widths."""

import itertools
import math
from fractions import Fraction

import pytest
from amaranth import Module, Signal, Value, signed, unsigned

from studies.answers.signed_shift import VARIANTS, ShiftCost, SignedShift, Variant, saving
from tests.rtl.simulate import evaluate


@pytest.mark.parametrize(("width", "gap_bits"), [(2, 2), (4, 3), (5, 4)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_shift_rounds_down_or_toward_zero(variant: Variant, width: int, gap_bits: int) -> None:
    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        m.submodules.shift = shift = SignedShift(width, gap_bits, variant)
        m.d.comb += [shift.total.eq(inputs[0]), shift.gap.eq(inputs[1])]
        return [shift.aligned, shift.increment]

    half = 1 << (width - 1)
    rows = list(itertools.product(range(-half, half), range(1 << gap_bits)))
    seen = evaluate([signed(width), unsigned(gap_bits)], build, rows)
    rounded = math.floor if variant == "down" else math.trunc
    assert [aligned + increment for aligned, increment in seen] == [rounded(Fraction(n, 1 << gap)) for n, gap in rows]
    assert any(increment for _, increment in seen) == (variant == "toward zero")


def test_saving_is_what_the_others_have_more() -> None:
    found = [ShiftCost("down", 100.0, 1.0), ShiftCost("toward zero", 130.0, 1.0)]
    assert saving(found, "toward zero") == 30.0
