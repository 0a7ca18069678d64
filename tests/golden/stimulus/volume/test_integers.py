"""The stimulus at volume for integers: classes and corners match their names."""

from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import B1, INT4, INT8, INT32, UINT4, UINT8, IntegerFormat
from golden.stimulus import OperandShape, volume
from golden.stimulus.integer_classes import numbers, product_sums
from golden.stimulus.volume.corners import variations
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import Key
from tests.golden.native.native_rows import needs_native

CLASSES = volume.CLASSES

INT8_PRODUCTS = OperandShape(a=INT8, b=INT8, c=INT32, d=INT32, K=4)


def sums_of(shape: OperandShape, operands: Any) -> np.ndarray:
    """The exact sums of rows of integers."""
    return np.asarray(product_sums(shape, operands) + numbers(shape.c, operands.c))


@needs_native
@pytest.mark.parametrize(("a", "b"), [(INT4, UINT4), (UINT4, INT4), (B1, B1), (B1, INT8)])
def test_narrow_integers_are_codes_and_the_same_on_both_engines(a: IntegerFormat, b: IntegerFormat) -> None:
    """Every code appears, none beyond the format."""
    shape = OperandShape(a=a, b=b, c=INT32, d=INT32, K=16)
    numpy, native = (volume.rows(shape, 5, 7, 3000, engine=engine) for engine in volume.ENGINES)
    for x, y in zip(numpy.operands[:3], native.operands[:3], strict=True):
        assert x is not None
        assert (x == y).all()
    assert (numpy.label == native.label).all()
    for codes, operand in ((numpy.operands.a, a), (numpy.operands.b, b)):
        assert np.unique(codes).tolist() == list(range(operand.codes))


@pytest.mark.parametrize(
    "shape",
    [
        INT8_PRODUCTS,
        OperandShape(a=UINT8, b=INT8, c=INT32, d=INT32, K=5),
        OperandShape(a=INT4, b=UINT4, c=INT32, d=INT32, K=16),
    ],
    ids=str,
)
def test_sums_of_integers_reach_what_their_class_is_for(shape: OperandShape) -> None:
    rows = volume.rows(shape, 3, 0, 8000)
    totals = sums_of(shape, rows.operands)
    largest, smallest = shape.c.max_finite, -shape.c.codes // 2
    of = {name: totals[rows.label == CLASSES.index(name)] for name in CLASSES}
    assert {-1, 0, 1} <= set(of["cancel"].tolist())
    beyond = {*(largest + off for off in range(-4, 4)), *(smallest + off for off in range(-4, 4))}
    assert beyond <= set(of["completed"].tolist())
    assert abs(of["tiny"]).max() <= shape.K * 2 * 3 + 2
    for name in ("huge", "completed"):
        assert (of[name] > largest).mean() > 0.05
        assert (of[name] < smallest).mean() > 0.05


def test_pairs_of_integers_cancel_in_every_element_of_a_tile() -> None:
    """But for the smallest number, which has no opposite."""
    tiles, labels = volume.tiles(INT8_PRODUCTS, 3, 2, 3, 0, 800)
    chosen = labels == CLASSES.index("cancel")
    a, b = (codes[chosen].view(np.int8).astype(int) for codes in (tiles.a, tiles.b))
    sums = (a[:, :, None, :] * b[:, None, :, :]).sum(axis=3)
    assert ((sums == 0) | (a == -128).any(axis=2)[:, :, None]).all()
    assert (b[:, 0] != 0).any(axis=1).mean() > 0.5


def test_landmarks_and_single_bits_of_integers_are_all_met() -> None:
    rows = volume.rows(INT8_PRODUCTS, 3, 0, 32000)
    special, apart = (rows.rows(rows.label == CLASSES.index(name)).operands for name in ("specials", "apart"))
    for codes in (special.a, special.b):
        assert {-128, -127, -1, 0, 1, 126, 127} <= set(codes.view(np.int8).ravel().tolist())
    wanted = {sign * ((1 << i) - off) - (sign < 0) for i in range(32) for off in (0, 1) for sign in (1, -1)}
    assert {value % (1 << 32) for value in wanted} == set(apart.c.tolist())


def test_a_varied_corner_of_integers_has_its_corners_sum_or_one_beside_it() -> None:
    count, seed = 2000, 9
    rows, table = volume.rows(INT8_PRODUCTS, seed, 0, count), volume.corner_table(INT8_PRODUCTS, seed)
    index = np.arange(1, count, 2)
    varied = variations(Plan(INT8_PRODUCTS), table, Key.of(seed, index.astype(np.uint64)))
    difference = sums_of(INT8_PRODUCTS, rows.operands)[index] - sums_of(INT8_PRODUCTS, table.operands)[varied.row]
    difference = (difference + (1 << 31)) % (1 << 32) - (1 << 31)  # c itself may wrap around
    np.testing.assert_array_equal(abs(difference), varied.nudge_odds > 0)
    assert {-1, 1} <= set(difference.tolist())
    assert (rows.operands.a[index] != table.operands.a[varied.row]).any()
