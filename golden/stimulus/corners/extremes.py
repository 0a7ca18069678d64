"""Corners at the ends of the result's range: overflow, subnormal results, and the exponent of a zero."""

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
    Places,
    Sums,
    operands_with,
    point_range,
    significands,
)
from golden.stimulus.classes import SPREADS
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, lowest_lead, number, zeros
from golden.stimulus.corners.corner import GAPS, crossed, either, other_block
from golden.stimulus.placed_products import Products, lead_range, operands_of, shuffled, staircase, window
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


OVERFLOWS = 5 * 3 * 4
"""Number of cases of `overflow`: steps from an eighth of an ulp to two × with or without a tiny term × ulps of c below the
largest result."""


def overflow(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums just below, at and above the largest result: c is zero to two ulps below it and a product an eighth of an ulp to
    two, with or without a tiny term; or several products reach it together."""
    step, beside, ulps, rows = case % 5, case // 5 % 3, case // 15, len(case)
    kept = min(shape.c.man_bits, shape.d.man_bits)
    frac = ((1 << kept) - 1 - np.minimum(ulps, (1 << kept) - 1)) << (shape.c.man_bits - kept)
    lead = np.full(rows, min(shape.c.e_max, shape.d.e_max))
    half = lead - shape.d.man_bits - 3 + step
    near = _rounded_at(shape, draws, lead, half, beside, draws.integers(0, 8, rows), frac)
    is_product = shape.K == 1 and not shape.has_c and not shape.adds
    if is_product and shape.d.e_max <= shape.a.e_max + shape.b.e_max:
        near = _product_below_overflow(shape, draws, near)
    top = shape.d.e_max - int(np.log2(shape.K)) + draws.integers(-1, 2, rows)
    together = window(shape, draws, top, draws.choice(SPREADS[:3], rows))
    one_sign = draws.integers(0, 2, rows)
    together.sign = np.broadcast_to(one_sign[:, None], together.sign.shape)
    c = number(shape.c, one_sign ^ (beside == 2), top - draws.integers(0, 4, rows), fractions(draws, shape.c, (rows,)))
    return either(ulps > 2, operands_of(shape, draws, together, c), near)


def _product_below_overflow(shape: OperandShape, draws: GeneratorDraws, rows: Operands) -> Operands:
    """The rows with the product (1 + 2^−k)·(2 − 2^(1−k)) at the largest exponent of a result: of few bits it is a result, of
    more it rounds to the power of two above all results."""
    a, b, count = shape.a, shape.b, len(rows.c)
    most = min(a.man_bits, b.man_bits)
    bits = draws.integers(1, most, count, endpoint=True)
    low, high = max(a.e_min, shape.d.e_max - b.e_max), min(a.e_max, shape.d.e_max - b.e_min)
    lead = draws.integers(low, high, count, endpoint=True)
    x = number(a, draws.integers(0, 2, count), lead, np.int64(1) << (a.man_bits - bits))
    y = number(
        b, draws.integers(0, 2, count), shape.d.e_max - lead, (1 << b.man_bits) - (np.int64(2) << (b.man_bits - bits))
    )
    return rows._replace(a=x.reshape(-1, 1), b=y.reshape(-1, 1))


def _rounded_at(
    shape: OperandShape, draws: GeneratorDraws, lead: IntArray, half: IntArray, beside: IntArray, distance: IntArray,
    frac: IntArray,
) -> Operands:  # fmt: skip
    """c at exponent `lead`, and a product of its sign at `half`; if `beside` is 1 or 2, another product `distance` + 1 below
    that one, of the same or of the other sign. A single product carries its own last bit instead."""
    rows = len(lead)
    sign = draws.integers(0, 2, rows)
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    leads = np.where(place == 0, half[:, None], (half - 1 - distance)[:, None])
    flips = (place == 1) & (beside == 2)[:, None]
    present = (place == 0) | ((place == 1) & (beside > 0)[:, None])
    frac_a = np.where(beside > 0, 1, 0)[:, None] if shape.K == 1 else 0
    products = shuffled(draws, Products(leads, sign[:, None] ^ flips, present, frac_a))
    return operands_of(shape, draws, products, number(shape.c, sign, lead, frac))


def floors(shape: OperandShape) -> int:
    """Number of kinds of `e_zero_floor`: two staircases, a result, and ties; in the last two no product is zero."""
    return 8 if shape.K > 2 else 4


def e_zero_floor(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c zero and only tiny products, so that the exponent of a zero decides where they are truncated: staircases down to
    every exponent below the result's smallest, which RZ sees, and to half of it beside that smallest, which RNE sees; a tie
    or a result, and a little more or less than it. Beside two such products all others are zero, or smallest ones that
    cancel."""
    depth, kind, less = crossed(case, GAPS, floors(shape), 2)
    rows = len(case)
    low, _ = lead_range(shape)
    lowest = lowest_lead(shape.d)
    sign = draws.integers(0, 2, rows)
    top = np.where(kind == 0, lowest + draws.integers(0, 4, rows), lowest - 1)
    stairs = staircase(shape, draws, top, np.maximum(np.minimum(top, lowest - depth), low), sign)
    beside = (kind == 1)[:, None] & (np.arange(shape.K) == np.argmin(stairs.present, axis=1)[:, None])
    stairs.lead = np.where(beside, lowest, stairs.lead)
    stairs.frac_a = np.where(beside, 0, stairs.frac_a)
    stairs.present = beside | stairs.present
    # A tie with a little beside it: half of the smallest result and more, or three halves and less, which go to one.
    is_tie, everywhere = kind > 2, np.ones(rows, np.bool_)
    places, filled = Places(rows, shape.K), kind > 5
    for place in range(2, shape.K - 1):
        places.put(place, filled, low, place & 1)
    # Under scales in one block, so that the others are zero, or in two.
    beside_it = (kind != 5) & (other_block(shape) > 1)
    tiny_frac = (np.int64(1) << max(shape.a.man_bits - 1, 0)) * draws.integers(0, 2, rows) * (shape.a.man_bits > 0)
    for place, where in ((shape.K - 1, ~beside_it), (min(1, shape.K - 1), beside_it)):
        places.put(place, where, np.maximum(lowest - 2 - depth, low), sign ^ less, tiny_frac)
    lead = np.where(is_tie & (less == 0), lowest - 1, lowest)
    places.put(0, everywhere, lead, sign, np.where(is_tie & (less == 1), 1 << max(shape.a.man_bits - 1, 0), 0))
    c = zeros(shape.c, draws.integers(0, 2, rows))
    pairs = places.moved(shape, draws)
    # A subnormal factor's exponent is that of the normal ones: it would lift its product's above the exponent of a zero.
    stairs.subnormal_factors = pairs.subnormal_factors = "avoided"
    return either(kind >= 2, operands_of(shape, draws, pairs, c), operands_of(shape, draws, stairs, c))


def subnormal_span(shape: OperandShape) -> int:
    """Exponents from the result's smallest normal number to one below its smallest number."""
    return shape.d.man_bits + 2


def subnormal_results(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums below the result's smallest normal number: small products alone, c alone beside zero products, and c just above
    against a product that takes most of it away. Where products do not reach that low, c alone."""
    span = subnormal_span(shape)
    below, kind = crossed(case, span, 3)
    target = shape.d.e_min - below
    low, _ = lead_range(shape)
    rows, sign = len(case), draws.integers(0, 2, len(case))
    products = window(shape, draws, target, draws.choice(SPREADS[:3], rows))
    by_products = (kind == 0) & (target >= low)
    c_frac = fractions(draws, shape.c, (rows,))
    products.present = np.broadcast_to(by_products[:, None], products.lead.shape)
    alone = operands_of(
        shape, draws, products, np.where(by_products, zeros(shape.c, sign), number(shape.c, sign, target, c_frac))
    )
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    taken = np.full((rows, shape.K), shape.d.e_min)
    taken_away = shuffled(draws, Products(taken, np.broadcast_to(1 - sign[:, None], taken.shape), place == 0))
    just_above = number(shape.c, sign, taken[:, 0], c_frac >> draws.integers(0, span, rows))
    against = operands_of(shape, draws, taken_away, just_above)
    return either((kind == 2) & (taken[:, 0] >= low), against, alone)
