"""Corners for sequential arithmetic: an invalid product among NaNs, and a product at half a last bit of a full c."""

import numpy as np

from golden.stimulus.classes import normal
from golden.stimulus.codes import GeneratorDraws, IntArray, infinities, nans, number, zeros
from golden.stimulus.corners.corner import crossed
from golden.stimulus.placed_products import Products, lead_range, operands_of
from golden.stimulus.shape import Operands, OperandShape

REPEATS = 8


def invalid_cases(shape: OperandShape) -> int:
    """Number of cases of `invalid_among_nans`; 0 if there is one product only, or a format lacks an infinity or a NaN."""
    is_possible = shape.K > 1 and bool(infinities(shape.a)) and bool(nans(shape.b)) and bool(infinities(shape.b))
    return 2 * 2 * REPEATS if is_possible else 0


def invalid_among_nans(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product of zero and infinity, in either order, and NaNs in one or all of the others, c being finite; or c alone is
    NaN."""
    repeat, swapped, all_others = crossed(case, REPEATS, 2, 2)
    in_c = (repeat >= REPEATS // 2) & bool(nans(shape.c))
    start, rows, place = normal(shape, draws, len(case)), len(case), np.arange(shape.K)
    invalid = draws.integers(0, shape.K, (rows, 1))
    other = (invalid + draws.integers(1, shape.K, (rows, 1))) % shape.K
    is_invalid = place == invalid
    is_nan = ~is_invalid & ((place == other) | (all_others == 1)[:, None]) & ~in_c[:, None]
    sign, in_a = draws.integers(0, 2, (rows, shape.K)), draws.integers(0, 2, (rows, shape.K)) == 0
    codes = []
    for operand, array, zero_here, nan_here in (
        (shape.a, start.a, swapped == 0, is_nan & in_a),
        (shape.b, start.b, swapped == 1, is_nan & ~in_a),
    ):
        infinite = np.array([operand.signed_infinity(0), operand.signed_infinity(1)], array.dtype)[sign]
        of_invalid = np.where(zero_here[:, None], zeros(operand, sign), infinite)
        nan = draws.choice(nans(operand), array.shape).astype(array.dtype)
        codes.append(np.where(is_invalid, of_invalid, np.where(nan_here, nan, array)))
    finite = np.where(np.isin(start.c, [*infinities(shape.c), *nans(shape.c)]), zeros(shape.c, sign[:, 0]), start.c)
    a, b = codes
    c = np.where(in_c, draws.choice(nans(shape.c) or [0], rows).astype(start.c.dtype), finite)
    return Operands(a, b, c, start.scale_a, start.scale_b)


def full_c_cases(shape: OperandShape) -> int:
    """Number of cases of `full_c`; 0 if no product lies at half of the last bit of the largest c."""
    low, high = lead_range(shape)
    return 3 * 2 * REPEATS if low < _half_of_last(shape) < high else 0


def _half_of_last(shape: OperandShape) -> int:
    return shape.c.e_max - shape.c.man_bits - 1


def full_c(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """The largest c, and one product of its sign that is half of its last bit, a bit less or a bit more, at any place."""
    off, sign, _ = crossed(case, 3, 2, REPEATS)
    rows, one = (len(case), shape.K), draws.integers(0, shape.K, (len(case), 1))
    lead = np.broadcast_to((_half_of_last(shape) - 1 + off)[:, None], rows)
    products = Products(lead, np.broadcast_to(sign[:, None], rows), np.arange(shape.K) == one)
    ones = (shape.c.max_finite >> shape.c.pad_bits) & ((1 << shape.c.man_bits) - 1)
    return operands_of(shape, draws, products, number(shape.c, sign, np.full(len(case), shape.c.e_max), ones))
