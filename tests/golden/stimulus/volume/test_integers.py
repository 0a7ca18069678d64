"""The stimulus at volume for integers: classes and corners match their names."""

from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import B1, INT4, INT8, INT32, UINT4, UINT8, IntegerFormat
from golden.stimulus import OperandShape, volume
from golden.stimulus.integer_classes import numbers, product_sums

CLASSES = volume.CLASSES

INT8_PRODUCTS = OperandShape(a=INT8, b=INT8, c=INT32, d=INT32, K=4)


def sums_of(shape: OperandShape, operands: Any) -> np.ndarray:
    """The exact sums of rows of integers."""
    return np.asarray(product_sums(shape, operands) + numbers(shape.c, operands.c))


@pytest.mark.parametrize(("a", "b"), [(INT4, UINT4), (UINT4, INT4), (B1, B1), (B1, INT8)])
def test_narrow_integers_are_codes(a: IntegerFormat, b: IntegerFormat) -> None:
    """Every code appears, none beyond the format."""
    rows = volume.rows(OperandShape(a=a, b=b, c=INT32, d=INT32, K=16), 5, 7, 3000)
    for codes, operand in ((rows.operands.a, a), (rows.operands.b, b)):
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
    """A quarter of the rows may be one beside it."""
    rows, table = volume.rows(INT8_PRODUCTS, 9, 0, 2000), volume.corner_table(INT8_PRODUCTS, 9)
    sums, labels = sums_of(INT8_PRODUCTS, table.operands) % (1 << 32), table.about[:, 0]  # c itself may wrap around
    found = sums_of(INT8_PRODUCTS, rows.operands)[1::2] % (1 << 32)
    exact = [bool((sums[labels == label] == total).any()) for total, label in zip(found, rows.label[1::2], strict=True)]
    beside = [
        bool((abs((sums[labels == label] - total + 1) % (1 << 32)) <= 2).any())
        for total, label in zip(found, rows.label[1::2], strict=True)
    ]
    assert all(beside)
    assert 0.7 < np.mean(exact) < 1
