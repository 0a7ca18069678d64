"""Corners of deep cancellation: sums whose result is near the smallest normal number, sums just below a power of two, and
scales of zero."""

import numpy as np

from golden.stimulus.chosen_sums import Places, bit_length, codes_of
from golden.stimulus.classes import normal
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, lowest_lead, number, zeros
from golden.stimulus.corners.corner import GAPS, crossed, other_block
from golden.stimulus.placed_products import Products, lead_range, moved, operands_of
from golden.stimulus.shape import Operands, OperandShape

REMAINDERS = (0, -1, -2, -3, -6)
"""Exponents of the remainder, relative to that of the smallest normal result or of another number that replaces it."""

TOP_BITS = 3
"""Largest number of non-zero fraction bits of a factor; a factor of so few bits can be subnormal without losing any."""

FIRST_DEPTH, DEPTHS = 12, 24
"""Depth of the remainder below the equal products whose sum is cancelled (exponents): the first depth, and the number of
depths."""

FIRST_RUN, LAST_RUN = 20, 60
"""Lengths of a run of ones, counted over all terms of a sum: the shortest and the longest."""

CANCELLED_SUMS = DEPTHS * 3 * 2 * 3
"""Number of cases of `cancelled_sums`: depths × positions of the remainder × numbers of products × 3 repetitions."""

REPEATS = 4
"""Number of rows for each length of a run of ones, at different exponents, half of them negative."""


def exponents_above(shape: OperandShape) -> int:
    """Number of exponents above the smallest normal result at which terms cancel: as far up as a product's bits reach."""
    return min(2 * shape.d.man_bits + 8, 72)


def cancelled_to_subnormal(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """One, two or four equal products, and a c that cancels them except for a remainder near the smallest normal result, at
    every distance below them.

    A factor may be subnormal, so that its product is far smaller than its exponent suggests. Further cases are the same sums
    at other exponents.
    """
    above, remainder, _ = crossed(case, exponents_above(shape), len(REMAINDERS), 3)
    rows, d, (low, high) = len(case), shape.d, lead_range(shape)
    pieces = np.minimum(draws.integers(0, 3, rows), int(np.log2(shape.K)))
    # Where products do not reach so low, or in a third of the rows, the same anywhere.
    anywhere = (draws.integers(0, 3, rows) == 0) | (low > d.e_min)
    lowest = max(low + 8, shape.c.e_min + d.man_bits + 8)
    base = np.where(anywhere, draws.integers(lowest, max(high, lowest + 1), rows) - above, d.e_min)
    lead, sign = base + above, draws.integers(0, 2, rows)
    frac_a, frac_b = (_top_bits(draws, of.man_bits, rows) for of in (shape.a, shape.b))
    # 1. the products' sum and the remainder, as integers with a common last bit
    kept_a, kept_b = min(shape.a.man_bits, TOP_BITS), min(shape.b.man_bits, TOP_BITS)
    sig = ((frac_a >> shape.a.man_bits - kept_a) + (1 << kept_a)) * ((frac_b >> shape.b.man_bits - kept_b) + (1 << kept_b))
    last = base - d.man_bits - 2
    of_sum, left = lead - kept_a - kept_b - last, np.maximum(base + np.array(REMAINDERS)[remainder] - last, 0)
    total = sig.astype(object) << np.maximum(of_sum, 0)
    rest: IntArray = (np.int64(1) << left) + draws.integers(0, np.int64(1) << left)
    # 2. c holds as much of the difference as it can
    difference = np.maximum(total - rest, 1)
    lost = np.maximum(bit_length(difference) - shape.c.man_bits - 1, 0)
    c = codes_of(shape.c, 1 - sign, (difference >> lost).astype(np.int64), last + lost)
    places = Places(rows, shape.K)
    for place in range(min(4, shape.K)):
        places.put(place, place < np.left_shift(1, pieces), lead - pieces, sign, frac_a, frac_b)
    products = places.moved(shape, draws)
    products.subnormal_factors = "wanted"
    return operands_of(shape, draws, products, c)


def _top_bits(draws: GeneratorDraws, man_bits: int, rows: int) -> IntArray:
    """Fractions of few bits, at the top."""
    kept = min(man_bits, TOP_BITS)
    top: IntArray = draws.integers(0, 1 << kept, rows) << (man_bits - kept)
    return top


def long_runs(shape: OperandShape) -> int:
    """Number of consecutive ones that c and three products can hold, one below the other, up to a limit."""
    most = shape.c.man_bits + 1 + min(shape.K, 3) * _ones_of_product(shape)
    return max(min(most, LAST_RUN) - FIRST_RUN, 1)


def _ones_of_product(shape: OperandShape) -> int:
    """Ones in a row that any product can have: of a alone, or (2^w − 1)·(2^w + 1)."""
    return max(shape.a.man_bits + 1, 2 * min(shape.a.man_bits, shape.b.man_bits))


def long_ones(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c full of ones, and products that continue them below it: sums that lie below a power of two by one last bit, as far
    down as the operands reach.

    When such a sum is rounded up, a carry runs through all of its bits. In other cases only products are full of ones, and c
    subtracts the power of two, so that the last bit is left.
    """
    run, kind, repeat = crossed(case, long_runs(shape), 3, REPEATS)
    rows, run, (low, high) = len(case), run + FIRST_RUN, lead_range(shape)
    in_c = np.array([shape.c.man_bits + 1, shape.c.man_bits, 0])[kind]
    highest = min(high + shape.c.man_bits, shape.c.e_max - 1)
    lowest = min(max(low + LAST_RUN, shape.c.e_min + 1), highest - 1)
    top = draws.integers(lowest, highest, rows)
    sign, places, w = repeat & 1, Places(rows, shape.K), min(shape.a.man_bits, shape.b.man_bits)
    ones_of_c = np.where(in_c == 0, -2, (np.int64(1) << in_c) - 1)
    c = codes_of(shape.c, sign, ones_of_c, np.where(in_c == 0, top, top + 1 - in_c))
    left, last = run - in_c, top + 1 - in_c
    for place in range(min(shape.K, 3)):
        by_both = (left >= 2 * w) & (2 * w > shape.a.man_bits + 1)
        ones = np.where(by_both, 2 * w, np.clip(left, 0, shape.a.man_bits + 1))
        left, last = left - ones, last - ones
        places.put_integer(place, ~by_both, sign, (np.int64(1) << ones) - 1, last, shape.a)
        frac_a = ((1 << max(w - 1, 0)) - 1) << (shape.a.man_bits - max(w - 1, 0))
        places.put(place, by_both, last + 2 * w - 1, sign, frac_a, (1 << shape.b.man_bits - w) * (w > 0))
    return operands_of(shape, draws, places.moved(shape, draws), c)


def cancelled_sums(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Many equal products with significands near four, and a c that cancels their sum. The remainder is a product `gap`
    exponents below them, as deep below c as a sum can reach: at any exponent, or so that the remainder is below the smallest
    normal result."""
    gap, where, few, _ = crossed(case, DEPTHS, 3, 2, 3)
    gap = FIRST_DEPTH + gap
    rows, d, (low, high) = len(case), shape.d, lead_range(shape)
    man_a, man_b, man_c = shape.a.man_bits, shape.b.man_bits, shape.c.man_bits
    most = shape.K - (other_block(shape) or 1)
    count = np.where(few == 1, max(most // 2, 1), most)
    # 1. significands full of ones, as long as c can hold the sum of their products
    kept = max(min(man_a, man_b, (man_c + 1 - most.bit_length()) // 2 - 1), 0)
    ones = (1 << kept) - 1
    frac_a, frac_b = ones << (man_a - kept), ones << (man_b - kept)
    total = count * (ones + (1 << kept)) ** 2
    # 2. exponents of the equal products, and of the remaining one
    lowest = max(low + man_a + man_b, lowest_lead(shape.c) + 2 * kept)
    highest = max(min(high, shape.c.e_max - 2 - most.bit_length()), lowest)
    anywhere = draws.integers(np.minimum(lowest + gap, highest), highest, endpoint=True)
    lead = np.where(where == 0, anywhere, np.clip(d.e_min - where + gap, lowest, highest))
    sign, place = draws.integers(0, 2, rows), np.arange(shape.K)
    is_left = place == shape.K - 1
    left_frac = draws.choice([0, 0, (1 << man_a) - 1, 1 if man_a else 0], rows)
    products = Products(
        np.where(is_left, (lead - gap)[:, None], lead[:, None]),
        np.where(is_left, draws.integers(0, 2, rows)[:, None], sign[:, None]),
        is_left | (place < count[:, None]),
        np.where(is_left, left_frac[:, None], frac_a),
        np.where(is_left, 0, frac_b),
    )
    c = codes_of(shape.c, 1 - sign, total, lead - 2 * kept)
    return operands_of(shape, draws, moved(shape, draws, products), c)


def zero_scales(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Blocks whose scale is zero in a, in b or in both, the other scale large, with large or zero elements; and a small c or
    small products in other blocks, which those blocks must not displace at alignment."""
    assert shape.scale is not None
    which, elements, all_blocks = crossed(case, 3, 2, 2)
    rows, start = len(case), normal(shape, draws, len(case))
    zero = (np.arange(shape.blocks) == draws.integers(0, shape.blocks, (rows, 1))) | (all_blocks == 1)[:, None]
    scales = []
    for operand in range(2):
        of_it = (which == operand) | (which == 2)
        large = number(shape.scale, 0 * zero, np.full(zero.shape, shape.scale.e_max))
        small = number(shape.scale, 0 * zero, np.full(zero.shape, lowest_lead(shape.scale)))
        scales.append(np.where(zero, np.where(of_it[:, None], zeros(shape.scale, 0 * zero), large), small))
    block_size = shape.block_size or 1
    in_zero = np.repeat(zero, block_size, axis=1)[:, : shape.K] & (elements == 1)[:, None]
    a = np.where(in_zero, zeros(shape.a, draws.integers(0, 2, in_zero.shape)), start.a)
    lead = draws.integers(lowest_lead(shape.c), shape.c.e_min + GAPS, rows)
    c = number(shape.c, draws.integers(0, 2, rows), lead, fractions(draws, shape.c, (rows,)))
    return Operands(a, start.b, c, scales[0], scales[1])


def has_zero_scale(shape: OperandShape) -> bool:
    """Whether a scale can be zero."""
    return shape.scale is not None and shape.scale.value(0) == 0
