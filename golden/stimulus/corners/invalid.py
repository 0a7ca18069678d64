"""A corner for arithmetic that keeps the first NaN it meets: an invalid product among NaNs."""

import numpy as np

from golden.stimulus.classes import normal
from golden.stimulus.codes import IntArray, infinities, nans, zeros
from golden.stimulus.corners.corner import crossed
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.shape import Operands, OperandShape

REPEATS = 8


def invalid_cases(shape: OperandShape) -> int:
    """None where there is one product, or no infinity or no NaN to put into it."""
    is_possible = shape.K > 1 and bool(infinities(shape.a)) and bool(nans(shape.b)) and bool(infinities(shape.b))
    return 2 * 2 * REPEATS if is_possible else 0


def invalid_among_nans(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product of zero and infinity, in either order, and NaNs in one or all of the others; c is finite."""
    _, swapped, all_others = crossed(case, REPEATS, 2, 2)
    start, rows, place = normal(shape, draws, len(case)), len(case), np.arange(shape.K)
    invalid = draws.integers(0, shape.K, (rows, 1))
    other = (invalid + draws.integers(1, shape.K, (rows, 1))) % shape.K
    is_invalid = place == invalid
    is_nan = ~is_invalid & ((place == other) | (all_others == 1)[:, None])
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
    return Operands(a, b, finite, start.scale_a, start.scale_b)
