"""Simpler rows: what counts as simpler, and which rows are tried."""

import random

import pytest

from golden.arithmetic.formats import E4M3, FORMATS, FP16, FP32, INT8, INT32, TF32, UE4M3, UE8M0, Cls, Format
from golden.stimulus import OperandShape, Row
from golden.stimulus.shrink import (
    cost,
    rows_one_change_away,
    rows_with_fewer_terms,
    simpler_codes,
)

TWO = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=2)
FOUR = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
SCALED = OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=2, scale=UE8M0, block_size=2)
ONE = FP16.encode(1)


def test_terms_count_first_and_candidates_are_bounded() -> None:
    row = Row((0x3E66, 0xB000, 0, 0x0001), (0x7BFF, 0x4123, 0x3C00, 0x8001), 0xC2F6E979)
    assert cost(row, FOUR)[0] == 4
    assert {cost(small, FOUR)[0] for small in rows_with_fewer_terms(row, FOUR)} == {0, 1, 2, 3, 4}
    assert len(list(rows_one_change_away(row, FOUR))) < 300
    assert cost(Row((ONE, 0), (ONE, 0), 0), TWO) < cost(Row((ONE, 0), (0x3E00, 0), 0), TWO)
    assert cost(Row((0x7BFF, 0), (0x7BFF, 0), 0), TWO) < cost(Row((ONE, 0), (ONE, 0), 1), TWO)


def test_order_of_values() -> None:
    """Zero, one, minus one, two, a subnormal power of two, three, the largest number, infinity, NaN."""
    codes = (0, ONE, 0xBC00, 0x4000, 0x0001, 0x4200, 0x7BFF, 0x7C00, 0x7E00, 0x7C01)
    costs = [cost(Row((code, 0), (ONE, 0), 0), TWO) for code in codes]
    assert costs == sorted(set(costs))


def test_simplest_scale_is_one() -> None:
    rows = [Row((0, 0), (0, 0), 0, (code,), (127,)) for code in (127, 126, 0, 255)]
    costs = [cost(row, SCALED) for row in rows]
    assert costs[0] == (0, 0, 0)
    assert costs == sorted(set(costs))
    assert Row((0, 0), (0, 0), 0, (127,), (127,)) in list(rows_one_change_away(rows[3], SCALED))


@pytest.mark.parametrize(
    ("code", "operand", "expected"),
    [
        (0xBC03, FP16, [0xBC00, 0xBC02, 0x3C03]),
        (0x0003, FP16, [0x0002]),
        (0x8001, FP16, [0x8000, 0x0001]),
        (0x8000, FP16, [0]),
        (0xFBFF, FP16, [0x8000, 0xBC00, 0xF800]),
        (0x3C00, FP16, [0]),
        (0xC0490FDB, FP32, [0xC0000000, 0xC0490FDA, 0x40490FDB]),
        (0x39, E4M3, [0x38]),
        (0xFE01, FP16, [0x7E00, 0xFC00, 0x7C00, 0xBC00]),
        (0xC0490FDB, TF32, [0xC0490000, 0xC0000000]),
        (0xC0, UE4M3, [0x40, 0x38]),
        (0x85, INT8, [1, 0xFF, 0x7B]),
        (0x05, INT8, [1, 4]),
    ],
)  # fmt: skip
def test_simpler_codes(code: int, operand: Format, expected: list[int]) -> None:
    assert set(expected) <= set(simpler_codes(code, operand))


def sampled(operand: Format) -> list[int]:
    rng = random.Random(1)
    return list(range(operand.codes)) if operand.width <= 8 else [rng.randrange(operand.codes) for _ in range(200)]


@pytest.mark.slow
@pytest.mark.parametrize("operand", FORMATS.values(), ids=str)
def test_every_code_has_simpler_ones_down_to_the_simplest(operand: Format) -> None:
    """Codes of the format, and from each a way of ever simpler codes that ends at zero, for a scale without zero at one."""
    shape = OperandShape(a=operand, b=operand, c=INT32 if operand in (INT8, INT32) else FP32, d=FP32, K=1)
    has_zero = operand.decode(0).cls is Cls.ZERO
    one = operand.encode(1)
    for start in sampled(operand):
        code = start
        for _ in range(200):
            costs = {other: cost(Row((other,), (one,), 0), shape) for other in simpler_codes(code, operand)}
            assert all(0 <= other < operand.codes for other in costs)
            simplest = min(costs, key=lambda other: costs[other], default=code)
            if code == simplest or costs[simplest] >= cost(Row((code,), (one,), 0), shape):
                break
            code = simplest
        assert code == (0 if has_zero else one)
