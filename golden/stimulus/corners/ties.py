"""Corners of rounding: ties and exact sums, alone or with a tiny term beside them, and long carries."""

import numpy as np

from golden.stimulus.chosen_sums import (
    ABOVE_C,
    BESIDE_C,
    NONE,
    ONE_PRODUCT,
    OTHER,
    OVERLAPPING_C,
    SAME,
    SHARES,
    Sums,
    operands_with,
    point_range,
    significands,
)
from golden.stimulus.codes import GeneratorDraws, IntArray, lowest_lead
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.shape import Operands, OperandShape

FAR = (56, 64, 80, 100, 150, 250, 5000)
"""Distances from a tie to a term far below (exponent value); the last one stands for the smallest positive number."""

DIRECTED_TIES = 165
"""Approximate number of ties on level 1."""


def tie_shares(shape: OperandShape) -> tuple[int, ...]:
    """The divisions of a tie among the terms (`SHARES`). One product is listed twice: c then adds the tiny term as the only
    bit below."""
    return (*SHARES, ONE_PRODUCT) if shape.K > 1 else (BESIDE_C, OVERLAPPING_C, ONE_PRODUCT, ONE_PRODUCT, ABOVE_C)


def distances(shape: OperandShape) -> IntArray:
    """Distances from a tie down to the term that breaks it (exponent value): all that an alignment or a product may keep,
    and some far below."""
    near = range(max(GAPS, shape.a.man_bits + shape.b.man_bits + 4))
    return np.array([*near, *FAR])


CARRIES = (1, 2, -1, -2)
"""Amounts that carry or borrow (half units in the last place, `Sums.beyond`)."""

PLACES = ANYWHERE, LARGEST, SMALLEST = range(3)
"""Parts of the result's range in which a carry runs."""


def ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums half-way between two results, made by c, by a product, by both or by several, and sums that are results: alone,
    or with a tiny term of either sign at any distance below."""
    reach = distances(shape)
    step, share, tiny, exact = crossed(case, len(reach), len(tie_shares(shape)), 2, 2)
    distance, share = reach[step], np.array(tie_shares(shape))[share]
    tiny = np.where(draws.integers(0, 8, len(case)) == 0, NONE, np.where(tiny == 0, SAME, OTHER))
    beyond = np.where(exact == 1, 0, draws.choice([1, -1], len(case)))
    low, high = point_range(shape, share)
    smallest = draws.integers(0, 5, len(case)) == 0
    point = draws.integers(np.minimum(low + distance + 1, high), high, endpoint=True)
    point = np.where(smallest, low, point)
    kept = significands(draws, _kept_bits(shape, draws, point))
    # In most rows the tie alone would go the other way than with the tiny term: to even, up or down.
    odd = np.where((tiny == OTHER) ^ (beyond == -1), kept | 1, np.maximum(kept & -2, 1))
    kept = np.where((tiny == NONE) | (draws.integers(0, 4, len(case)) == 0), kept, odd)
    return operands_with(shape, draws, Sums(point, kept, beyond, share, tiny, distance))


def carry_runs(shape: OperandShape) -> int:
    """Number of bits that a carry can run through: the retained ones."""
    return shape.d.man_bits + 1


def carries(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Carries and borrows through runs of ones and zeros of every length, from rounding or from a product at the last place:
    anywhere, at the largest result, and from the subnormal to the normal ones."""
    run, carry, where = crossed(case, carry_runs(shape), len(CARRIES), len(PLACES))
    rows, beyond = len(case), np.array(CARRIES)[carry]
    share = draws.integers(0, len(SHARES), rows)
    low, high = point_range(shape, share)
    point = np.select([where == LARGEST, where == SMALLEST], [high, low], draws.integers(low, high, endpoint=True))
    bits = np.where(where == SMALLEST, _kept_bits(shape, draws, point), shape.d.man_bits + 1)
    run = np.minimum(run + 1, bits)
    # The run begins after a zero of the other bits, or is all of the significand: 1 x x 0 1 1 1 1, 1 1 1 1 1 1 1 1.
    ones = (np.int64(1) << run) - 1
    prefix = significands(draws, bits) & ~(ones | (ones + 1))
    upward = np.where(run >= bits - 1, (np.int64(1) << bits) - 1, prefix | ones)
    downward = np.where(run >= bits - 1, np.int64(1) << (bits - 1), prefix | (ones + 1))
    kept = np.where(beyond > 0, upward, downward)
    tiny = np.where(np.abs(beyond) == 1, draws.choice([NONE, SAME, OTHER], rows), NONE)
    return operands_with(shape, draws, Sums(point, kept, beyond, share, tiny, draws.integers(0, 24, rows)))


def _kept_bits(shape: OperandShape, draws: GeneratorDraws, point: IntArray) -> IntArray:
    """Random bits that a result keeps above `point`: all of its bits, or one less in half of the rows; for subnormals any
    number of bits."""
    whole = shape.d.man_bits + 1
    subnormal = point <= lowest_lead(shape.d) - 1
    bits = draws.integers(1, whole, len(point), endpoint=True)
    bits = np.where(draws.integers(0, 2, len(point)) == 0, whole - 1, bits)
    return np.where(subnormal, bits, whole)
