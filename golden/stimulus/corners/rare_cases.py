"""Corners of situations that other corners seldom reach: several special terms, only zeros, a carry out of a c full of ones,
results that round up to the smallest normal number, products that differ by their last bit, sums that cancel beside others,
products that fill the significand of a result, and the ends of the scales' range and distances between them."""

import numpy as np

from golden.arrays import bits_dtype
from golden.stimulus.classes import normal
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, infinities, nans, number, signs, zeros
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.placed_products import Products, lead_range, operands_of, window
from golden.stimulus.shape import Operands, OperandShape

MAKEUPS = PLUS, MINUS, BOTH, NOT_A_NUMBER, MIXED = range(5)
"""Kinds of several special terms: infinities of plus, of minus or of both signs, NaNs, or NaNs among infinities."""

ENDS = 3 * 3 * 2 * 2 * 2
"""Number of cases of `scale_ends`: the lower end × the division of the ends among blocks × c × the bits of the small product
× whether the lower ends differ."""


def several_specials(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Two, three or all products special, and c or not, where the formats have special values: an infinity by a number,
    or by another infinity."""
    makeup, some, with_c, by_infinity = crossed(case, len(MAKEUPS), 3, 2, 4)
    start, rows = normal(shape, draws, len(case)), len(case)
    count = np.minimum(np.array([2, 3, shape.K])[some], shape.K)
    order = draws.permuted(np.broadcast_to(np.arange(shape.K), (rows, shape.K)).copy())
    mine = order < count[:, None]
    sign = np.where(makeup == PLUS, 0, np.where(makeup == MINUS, 1, draws.integers(0, 2, rows)))
    signs_of = np.where((makeup == BOTH)[:, None], order & 1, sign[:, None])
    in_b = shape.a.infinity is None and shape.b.infinity is not None
    wide, other = (shape.b, shape.a) if in_b else (shape.a, shape.b)
    is_nan = (makeup == NOT_A_NUMBER)[:, None] | ((makeup == MIXED)[:, None] & ((order == 0) | (wide.infinity is None)))
    special, factor = (start.b.copy(), start.a.copy()) if in_b else (start.a.copy(), start.b.copy())
    if infinities(wide):
        of_sign = np.array([wide.signed_infinity(0), wide.signed_infinity(1)], special.dtype)
        flips = draws.integers(0, 2, mine.shape)
        special = np.where(mine & ~is_nan, of_sign[signs_of ^ flips], special)
        one = number(other, flips, np.zeros(mine.shape, np.int64))
        by = np.array([other.signed_infinity(0), other.signed_infinity(1)], one.dtype)[flips] if infinities(other) else one
        factor = np.where(mine, np.where((by_infinity == 0)[:, None], by, one), factor)
    if nans(wide):
        special = np.where(mine & is_nan, draws.choice(nans(wide), mine.shape).astype(special.dtype), special)
    c = start.c
    if shape.c.infinity is not None and shape.c.nan is not None:
        of_c = np.array([shape.c.signed_infinity(0), shape.c.signed_infinity(1), shape.c.nan], c.dtype)
        c_sign = np.where(makeup == BOTH, draws.integers(0, 2, rows), sign)
        c = np.where(with_c == 1, of_c[np.where(makeup == NOT_A_NUMBER, 2, c_sign)], c)
    a, b = (factor, special) if in_b else (special, factor)
    return Operands(a, b, c, start.scale_a, start.scale_b)


def zero_sums(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Every product zero, all of one sign or of both, and c a zero of either sign."""
    sign, of_c = crossed(case, 4, 2)
    start = normal(shape, draws, len(case))
    rows = (len(case), shape.K)
    of_products = np.where((sign == 2)[:, None], draws.integers(0, 2, rows), (sign & 1)[:, None])
    in_a = draws.integers(0, 2, rows) == 0
    flips = draws.integers(0, 2, rows)
    a = np.where(in_a, zeros(shape.a, flips), number(shape.a, flips, start.a * 0))
    b = np.where(in_a, number(shape.b, flips ^ of_products, start.b * 0), zeros(shape.b, flips ^ of_products))
    return Operands(a, b, zeros(shape.c, of_c), start.scale_a, start.scale_b)


def carried_c(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c just under a power of two, and products of its sign that lie `gap` below and carry it there, with all their bits
    beyond it; or of the other sign, which borrow from a power of two. Or one product that carries, and the last bits of
    the others `gap` below c."""
    gap, borrows, kind = crossed(case, GAPS, 2, 4)
    one_carries = kind > 0
    # It covers all places down to c's last bit; only those below matter.
    gap = np.where(one_carries, GAPS // 2 + gap % (GAPS // 3), gap)
    rows, (low, high) = len(case), lead_range(shape)
    lowest, highest = max(low, shape.c.e_min), min(high, shape.c.e_max - 1)
    lead = draws.integers(np.minimum(lowest + gap, highest), highest, endpoint=True)
    products = window(shape, draws, lead - gap, draws.choice([0, 1, 3, 7, 15], rows))
    last_bits = np.maximum(lead - gap + shape.a.man_bits + shape.b.man_bits, low)
    carries = np.arange(shape.K) == draws.integers(0, shape.K, (rows, 1))
    carrier = lead - shape.c.man_bits + draws.integers(0, 3, rows)
    parted = np.where(carries, carrier[:, None], last_bits[:, None])
    products.lead = np.where(one_carries[:, None], parted, products.lead)
    sign = draws.integers(0, 2, rows)
    products.sign = np.broadcast_to((sign ^ borrows)[:, None], products.lead.shape)
    ones = (1 << shape.c.man_bits) - 1
    missing = np.int64(1) << np.clip(shape.c.man_bits - gap + draws.integers(0, 3, rows), 0, shape.c.man_bits)
    missing = np.where(one_carries | (draws.integers(0, 2, rows) == 0), 1, missing)
    frac = np.where(borrows == 1, 0, np.maximum(ones + 1 - missing, 0))
    return operands_of(shape, draws, products, number(shape.c, sign, lead, frac))


def below_normal(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """The smallest normal result, as c or as a product, less a product that lies `gap` below its last bit or above that;
    the first two products in either order, or the first and the third."""
    gap, by_c, places = crossed(case, GAPS, 2, 3)
    rows, place = len(case), np.broadcast_to(np.arange(shape.K), (len(case), shape.K))
    by_c = (by_c == 1) | (shape.K == 1)
    sign, lead = draws.integers(0, 2, rows), np.full((rows, shape.K), shape.d.e_min)
    of_large, of_small = (np.minimum(np.array(of)[places], shape.K - 1)[:, None] for of in ((0, 1, 0), (1, 0, 2)))
    less = shape.d.e_min - shape.d.man_bits + 3 - gap
    products = Products(
        np.where(place == of_small, less[:, None], lead),
        np.where(place == of_small, 1 - sign[:, None], sign[:, None]),
        (place == of_small) | ((place == of_large) & ~by_c[:, None]),
    )
    c = np.where(by_c, number(shape.c, sign, lead[:, 0]), zeros(shape.c, sign))
    return operands_of(shape, draws, products, c)


NEARBY = 4
"""Number of kinds of `nearby_products`; level 1 has one case of each."""


def nearby_products(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """m·m less (m + 1)·(m − 1), one unit in the last place, as neighbours or with a product between them; the other products
    are zero or lie far below, c is zero. Anywhere, or about the smallest normal result; or the smallest products beside the
    largest ones."""
    (apart, alone), rows = crossed(case, 2, 2), len(case)
    (low, high), K = lead_range(shape), shape.K
    bits = shape.a.man_bits + shape.b.man_bits + 2
    lead = draws.integers(min(low + bits, high), high, rows, endpoint=True)
    # In half of the rows the remainder, or one of the products, is near the smallest normal result.
    at_low_end = np.clip(shape.d.e_min + draws.integers(-2, bits + 2, rows), min(low + bits, high), high)
    lead = np.where(draws.integers(0, 2, rows) == 0, lead, at_low_end)
    others_above = (case >= NEARBY) & (draws.integers(0, 4, rows) == 0)
    lead = np.where(others_above, np.clip(shape.a.e_min + shape.b.e_min + draws.integers(0, 3, rows), low, high), lead)
    man = min(shape.a.man_bits, shape.b.man_bits)
    ones = (1 << man) - 1
    m = draws.integers(min(1, ones), max(ones - 1, 1), rows, endpoint=True)
    # The second significand has one more, the first one less: at the same exponents, as far as the fractions allow.
    place = np.broadcast_to(np.arange(K), (rows, K))
    partner = np.where(apart == 1, min(2, K - 1), min(1, K - 1))[:, None]
    start = (draws.integers(0, K, (rows, 1)) // 4 * 4) % max(K - 3, 1)
    is_first, is_second = place == start, place == start + partner
    sign = draws.integers(0, 2, (rows, 1))
    shift_a, shift_b = shape.a.man_bits - man, shape.b.man_bits - man
    frac_a = np.where(is_second, np.minimum(m + 1, ones)[:, None], m[:, None]) << shift_a
    frac_b = np.where(is_second, np.maximum(m - 1, 0)[:, None], m[:, None]) << shift_b
    below = lead[:, None] - draws.integers(8, GAPS, (rows, K))
    others = np.where(others_above[:, None], high - draws.integers(0, 4, (rows, K)), below)
    products = Products(
        np.where(is_first | is_second, lead[:, None], others),
        np.where(is_second, 1 - sign, sign),
        is_first | is_second | (alone == 0)[:, None],
        frac_a,
        frac_b,
    )
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


def cancelled_beside(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Two products that cancel, neighbours or with one between them; others `gap` exponents below, with all their bits."""
    gap, apart, large = crossed(case, GAPS, 2, 2)
    rows, K, (low, high) = len(case), shape.K, lead_range(shape)
    place = np.broadcast_to(np.arange(K), (rows, K))
    top = np.where(large == 1, high, draws.integers(min(low + GAPS, high), high, len(case), endpoint=True))
    partner = np.where(apart == 1, min(2, K - 1), min(1, K - 1))[:, None]
    pair = (place == 0) | (place == partner)
    below = window(shape, draws, top - gap, draws.choice([0, 1], rows))
    frac_a, frac_b = fractions(draws, shape.a, (rows, 1)), fractions(draws, shape.b, (rows, 1))
    sign = draws.integers(0, 2, (rows, 1))
    products = Products(
        np.where(pair, top[:, None], below.lead),
        np.where(pair, sign ^ (place > 0), below.sign),
        # In half of the rows the pair's group has no other products, so that the group's sum is zero.
        pair | (((place - partner) % 2 == 1) & (apart == 1)[:, None]) | (apart == 0)[:, None] & (place >= K // 2),
        np.where(pair, frac_a, below.frac_a),
        np.where(pair, frac_b, below.frac_b),
        "any",
    )
    return operands_of(shape, draws, products, zeros(shape.c, sign[:, 0]))


def filled_result(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Products that fill all bits of the largest result, one below the other in order, and half a unit in its last place
    more; c is zero. All products, or every other one, which some operations sum apart. The same in the binade below the
    normal results."""
    more, sign, small, apart = crossed(case, 3, 2, 2, 2)
    rows, K, width = len(case), shape.K, shape.a.man_bits + 1
    bits = shape.d.man_bits + 1
    _, high = lead_range(shape)
    top = np.where(small == 1, shape.d.e_min - 1, min(high, shape.d.e_max))[:, None]
    stride = 1 + apart[:, None]
    place, is_taken = np.arange(K) // stride, np.arange(K) % stride == 0
    kept = np.clip(bits - place * width, 0, width)
    is_half = place == -(-bits // width)
    ones = np.where(kept > 0, (1 << width) - (1 << (width - kept)) - (1 << shape.a.man_bits), 0)
    lead = np.where(is_half, top - bits - (more[:, None] == 2), top - place * width)
    present = is_taken & ((kept > 0) | (is_half & (more[:, None] > 0)))
    products = Products(lead, np.broadcast_to(sign[:, None], lead.shape), present, np.broadcast_to(ones, lead.shape))
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


def scale_ends(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Blocks under the largest scales, and others under the smallest or the smallest normal scales with the smallest
    products; c is at the exponent of the largest scales, or zero."""
    assert shape.scale is not None
    low, high, with_c, two_bits, uneven = crossed(case, 3, 3, 2, 2, 2)
    rows, scale = len(case), shape.scale
    smallest = 1 if scale.has_zero else 0
    normal_ones = max(1 << scale.man_bits, 1 + smallest) if scale.subnormals else 1 + smallest
    ends = np.array([smallest, normal_ones, scale.max_finite])
    block = np.arange(shape.blocks)
    split = draws.integers(0, shape.blocks, (rows, 1))
    is_low = np.where((high == 0)[:, None], block == split, block >= split)
    other = np.where(high == 2, ends[low], scale.max_finite)
    scale_a = np.where(is_low, ends[low][:, None], other[:, None])
    scale_b = np.where(is_low, ends[(low + uneven) % 2][:, None], scale.max_finite)
    block_size = shape.block_size or 1
    tiny = np.repeat(is_low, block_size, axis=1)[:, : shape.K]
    one_of_block = np.arange(shape.K) % block_size == 0
    sign = signs(draws, (rows, shape.K))
    smallest_b = shape.b.e_min - shape.b.man_bits
    # The smallest number, or one with two bits of which alignment may leave the first.
    lead_a = shape.a.e_min - np.where(two_bits == 0, shape.a.man_bits, 0)[:, None]
    a = np.where(tiny, number(shape.a, sign, lead_a + 0 * tiny, 1), number(shape.a, sign, 0 * tiny))
    b = np.where(tiny, number(shape.b, 0 * sign, tiny * smallest_b), number(shape.b, 0 * sign, 0 * tiny))
    none = tiny & ~one_of_block
    a = np.where(none, zeros(shape.a, sign), a)
    c_lead = np.full(rows, min(2 * scale.e_max, shape.c.e_max))
    c = np.where(with_c == 1, number(shape.c, sign[:, 0], c_lead), zeros(shape.c, sign[:, 0]))
    return Operands(a, b, c, *(scales.astype(bits_dtype(scale)) for scales in (scale_a, scale_b)))


def scale_gaps(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Blocks whose scales lie `gap` exponents below those of the others, elements with exponents near zero, and a c that is
    zero or at the exponent of the larger scales."""
    assert shape.scale is not None
    gap, with_c, wide = crossed(case, GAPS, 2, 2)
    rows, scale = len(case), shape.scale
    start = normal(shape, draws, rows)
    lowest, highest = 2 * scale.e_min, 2 * scale.e_max
    top = draws.integers(np.minimum(lowest + gap, highest), highest, endpoint=True)
    top = np.where(with_c == 1, np.clip(top, shape.c.e_min, shape.c.e_max), top)
    split = draws.integers(1, max(shape.blocks, 2), (rows, 1))
    total = np.where(np.arange(shape.blocks) < split, top[:, None], np.maximum(top - gap, lowest)[:, None])
    first = np.clip(total // 2, scale.e_min, scale.e_max)
    zero = np.zeros_like(total)
    scales = number(shape.scale, zero, first), number(shape.scale, zero, total - first)
    a = number(
        shape.a, signs(draws, (rows, shape.K)), 0 * start.a.astype(np.int64), fractions(draws, shape.a, (rows, shape.K))
    )
    sign = draws.integers(0, 2, rows)
    c = np.where(with_c == 1, number(shape.c, sign, top, fractions(draws, shape.c, (rows,))), zeros(shape.c, sign))
    frac_b = np.where((wide == 1)[:, None], fractions(draws, shape.b, (rows, shape.K)), 0)
    return Operands(a, number(shape.b, 0 * frac_b, 0 * frac_b, frac_b), c, *scales)
