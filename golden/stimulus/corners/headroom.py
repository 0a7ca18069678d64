"""Corners for OC- and PS-FDPA: opposite infinite products beside a NaN c, and ties beside zero products, whose exponent
says where alignment cuts."""

from functools import cache

import numpy as np

from golden.stimulus.chosen_sums import Places, bit_length, fraction
from golden.stimulus.classes import normal
from golden.stimulus.codes import GeneratorDraws, IntArray, infinities, lowest_lead, nans, number
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.placed_products import lead_range, operands_of
from golden.stimulus.shape import Operands, OperandShape

REPEATS = 8

LARGEST_FACTOR = 1 << 11
"""Upper limit of the significand of a factor, also in wider formats: there are enough factors below it."""


def opposed_cases(shape: OperandShape) -> int:
    """Number of cases of `opposed_infinities`; 0 if there is one product only, or a format lacks an infinity or a NaN."""
    is_possible = shape.headroom is not None and shape.K > 1 and bool(infinities(shape.a)) and bool(nans(shape.c))
    return REPEATS if is_possible else 0


def opposed_infinities(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product of +infinity and one of −infinity, each of an infinite a and a finite b, and a c that is NaN."""
    start, rows, place = normal(shape, draws, len(case)), len(case), np.arange(shape.K)
    one = draws.integers(0, shape.K, (rows, 1))
    other = (one + draws.integers(1, shape.K, (rows, 1))) % shape.K
    sign = draws.integers(0, 2, (rows, 1)) ^ (place == other)
    infinite = np.array([shape.a.signed_infinity(0), shape.a.signed_infinity(1)], start.a.dtype)[sign]
    is_either = (place == one) | (place == other)
    a, b = np.where(is_either, infinite, start.a), np.where(is_either, number(shape.b, 0, 0), start.b)
    return Operands(a, b, draws.choice(nans(shape.c), rows).astype(start.c.dtype), start.scale_a, start.scale_b)


@cache
def _factors(man_a: int, man_b: int) -> dict[tuple[int, int], tuple[int, int]]:
    """(n, off) to odd factors x and y with x·y = m·2^n + off for an odd m and off = ±1: half of a last place and a bit n
    places lower, added or taken away. The smallest x of each."""
    x = np.arange(1, min(2 << man_a, LARGEST_FACTOR), 2)[:, None]
    y = np.arange(1, min(2 << man_b, LARGEST_FACTOR), 2)
    found = {}
    for n in range(2, man_a + man_b + 2):
        for off in (1, -1):
            rows, columns = np.nonzero((x * y - off) % (2 << n) == 1 << n)
            if rows.size:
                found[n, off] = int(x[rows[0], 0]), int(y[columns[0]])
    return found


def _reachable(shape: OperandShape) -> list[tuple[int, int, int]]:
    """Exponent of the leading bit of each product of `_factors` that the formats reach, x and y."""
    half, (low, high) = lowest_lead(shape.d) - 1, lead_range(shape)
    found = []
    for (n, _), (x, y) in _factors(shape.a.man_bits, shape.b.man_bits).items():
        lead = half - n + x.bit_length() + y.bit_length() - 2
        if low <= half - n and lead <= high:
            found.append((lead, x, y))
    return found


FLOORED_TIES = 2 * 2
"""Cases of `floored_ties` for each product: c zero or subnormal × sign."""


def rounds_twice(shape: OperandShape) -> bool:
    """Whether a sum is rounded to a format other than c's, of which the result then keeps the upper bits."""
    return shape.d is not shape.c


def floored_tie_cases(shape: OperandShape) -> int:
    """Number of cases of `floored_ties`: each product with all of `FLOORED_TIES`; where sums are rounded twice, also with
    another product × sign, and each distance of a product from c. 0 if no product reaches so low, or with scales."""
    is_possible = shape.headroom is not None and shape.K > 1 and shape.scale is None
    if not is_possible or not _reachable(shape):
        return 0
    twice = rounds_twice(shape)
    return len(_reachable(shape)) * (FLOORED_TIES + 2 * twice) + 2 * GAPS * twice


def floored_ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """One product, a tie of the smallest results and one bit more or less; c zero or subnormal, all other products zero.
    Only the exponent of a zero product or of c says whether alignment keeps that bit. Where sums are rounded twice, also
    with a second product, the smallest c of the other sign, which the tie comes next to; and a power of two beside that c,
    of which a floor takes one unit of the last place that alignment keeps."""
    reachable, twice, rows = np.array(_reachable(shape)), rounds_twice(shape), len(case)
    ties = len(reachable) * (FLOORED_TIES + 2 * twice)
    index, kind, negative = crossed(np.minimum(case, ties - 1), len(reachable), 2 + twice, 2)
    lead, x, y = reachable[index].T
    is_tie, (gap, other_sign) = case < ties, crossed(np.maximum(case - ties, 0), GAPS, 2)
    lowest, places = lowest_lead(shape.c), Places(rows, shape.K)
    places.put(0, is_tie, lead, negative, fraction(shape.a, x, bit_length(x)), fraction(shape.b, y, bit_length(y)))
    places.put(1, is_tie & (kind == 2), lowest, 1 - negative)
    places.put(0, ~is_tie, np.clip(lowest + gap, *lead_range(shape)), other_sign)
    pairs = places.moved(shape, draws)
    pairs.subnormal_factors = "exact"
    of_c = np.where(is_tie & (kind == 1), draws.integers(0, 1 << shape.c.man_bits, rows), np.where(is_tie, 0, 1))
    drawn = draws.integers(0, 2, rows)
    sign = np.where(np.where(is_tie, drawn, 1 - other_sign) == 1, shape.c.negative_zero, 0)
    return operands_of(shape, draws, pairs, (sign | of_c << shape.c.pad_bits).astype(number(shape.c, 0, 0).dtype))
