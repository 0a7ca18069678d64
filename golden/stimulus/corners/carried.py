"""Corners of sums that reach a power of two: c carried over it with a tie and a few bits left far below, and the largest
products that add up to one."""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from golden.stimulus.chosen_sums import Places, codes_of
from golden.stimulus.classes import normal
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, infinities, lowest_lead, nans, number, zeros
from golden.stimulus.corners.corner import crossed, either
from golden.stimulus.placed_products import Products, lead_range, operands_of
from golden.stimulus.shape import Operands, OperandShape

REPEATS = 8


def invalid_cases(shape: OperandShape) -> int:
    """Number of cases of `invalid_among_nans`; 0 if a format lacks an infinity or a NaN, or where there is one product and
    c has no NaN."""
    has_another = shape.K > 1 or (shape.has_c and bool(nans(shape.c)))
    is_possible = has_another and bool(infinities(shape.a)) and bool(nans(shape.b)) and bool(infinities(shape.b))
    return 2 * 2 * REPEATS if is_possible else 0


def invalid_among_nans(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product of zero and infinity, in either order, and NaNs in one or all of the others, c being finite; or c alone is
    NaN, as always where there is no other product."""
    repeat, swapped, all_others = crossed(case, REPEATS, 2, 2)
    in_c = ((repeat >= REPEATS // 2) | (shape.K == 1)) & bool(nans(shape.c))
    start, rows, place = normal(shape, draws, len(case)), len(case), np.arange(shape.K)
    invalid = draws.integers(0, shape.K, (rows, 1))
    other = (invalid + draws.integers(1, max(shape.K, 2), (rows, 1))) % shape.K
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


TAIL_PLACES = 18
"""Number of places below the half of a tie at which a tail may end; the first is 1."""

TAILS = (1, 3, 5, -1, -3)
"""Bits below a tie: one or two ones, or a run of ones if they are subtracted."""

CARRIED_TIES = TAIL_PLACES * len(TAILS) * 2 * 2
"""Number of cases of `carried_ties`: place of the tail's end × kind of tail × sign × beside a tie or a result."""


def carried_ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c just under a power of two, and a product that carries it over that power and on to a tie or a result.

    The sum has one more place above than its terms, and loses the lowest places of a tail that another product adds. The
    tail has one or two ones, at every distance.
    """
    end, tail, negative, tie = crossed(case, TAIL_PLACES, len(TAILS), 2, 2)
    rows, (low, high), tail = len(case), lead_range(shape), np.array(TAILS)[tail]
    end, bits = end + 1, min(shape.c.man_bits, shape.d.man_bits)
    # 1. c in units of its last place, or of d's where that is higher, which is half of the result's
    missing, more = draws.integers(1, 3, rows), draws.integers(0, 2, rows)
    lowest = max(low + TAIL_PLACES, shape.c.e_min)
    unit = draws.integers(lowest, max(min(high, shape.c.e_max) - bits - 1, lowest), rows, endpoint=True)
    c = codes_of(shape.c, negative, (np.int64(2) << bits) - missing, unit)
    # 2. to the power of two, and an even result's tie beyond; an odd one's where the tail takes away
    carrier = missing + tie + 4 * more + 2 * (tail < 0)
    places, everywhere = Places(rows, shape.K), np.ones(rows, np.bool_)
    places.put_integer(0, everywhere, negative, carrier, unit, shape.a)
    places.put_integer(shape.K - 1, everywhere, negative, tail, unit - end, shape.a)
    return operands_of(shape, draws, places.moved(shape, draws), c)


def paired_ties_cases(shape: OperandShape) -> int:
    """Number of cases of `paired_ties`: lengths of the borrow × even or odd c × sign × neighbours or both ends of a
    group."""
    return _borrows(shape) * 2 * 2 * 2 if 1 < shape.neighbours <= shape.K else 0


def _borrows(shape: OperandShape) -> int:
    return min(shape.a.man_bits, shape.b.man_bits)


def carried_or_paired_ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """The cases of `paired_ties` if products have neighbours, then those of `carried_ties`."""
    paired = paired_ties_cases(shape)
    if not paired:
        return carried_ties(shape, draws, case)
    others = carried_ties(shape, draws, np.maximum(case - paired, 0))
    return either(case < paired, paired_ties(shape, draws, case % paired), others)


def paired_ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A tie beside c that two products of one group make, 2^t − 2^s and 2^s, with s from just below t down to the smallest
    that the factors reach.

    One of the products alone has bits below those that alignment keeps, while their sum has none.
    """
    borrow, odd, negative, apart = crossed(case, _borrows(shape), 2, 2, 2)
    rows, half, (low, high) = len(case), borrow + 1, lead_range(shape)
    # 1. exponents: of the half of the last place, and of the smaller product
    below_c = shape.d.man_bits + 1
    lowest = np.maximum(low + 2 * half, shape.c.e_min - below_c)
    tie = draws.integers(lowest, np.maximum(min(high, shape.c.e_max - below_c - 1), lowest), endpoint=True)
    small = tie - 2 * half
    # 2. 2^t − 2^s = 2^s · (2^half − 1) · (2^half + 1)
    man_a, man_b = shape.a.man_bits, shape.b.man_bits
    ones, and_one = ((1 << half) - 1 << man_a + 1 - half) - (1 << man_a), 1 << man_b - half
    group = draws.integers(0, shape.K // shape.neighbours, rows) * shape.neighbours
    other = np.where(apart == 1, shape.neighbours - 1, 1)
    places = Places(rows, shape.K)
    for place in range(shape.K):
        places.put(place, group == place, tie - 1, negative, ones, and_one)
        places.put(place, group + other == place, small, negative)
    last = draws.integers(0, 1 << shape.c.man_bits, rows) & ~np.int64(1) | odd
    return operands_of(shape, draws, places.products, number(shape.c, negative, tie + below_c, last))


BELOW_TOP = 4
"""Number of powers of two, from the largest that the products reach downwards."""

BESIDE = NOTHING, LESS, MORE = range(3)
"""The term beside the power of two: none, or a c that adds to it or subtracts from it."""

LARGEST_SUMS = BELOW_TOP * len(BESIDE) * 2 * 4
"""Number of cases of `largest_sums`: powers × the term beside them × sign × distance of all exponents below the largest
ones."""


def largest_sums(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """The largest products, as many as fit into a power of two, others that complete it, and a small c of either sign: the
    sums end at the top bits of an adder. Further cases are the same sums some exponents lower."""
    below_top, beside, sign, down = crossed(case, BELOW_TOP, len(BESIDE), 2, 4)
    rows, (_, high) = len(case), lead_range(shape)
    down = np.where(down == 3, draws.integers(3, 16, rows), down)
    places = Places(rows, shape.K)
    for power in range(BELOW_TOP):
        for place, (lead, frac_a, frac_b) in enumerate(_completed(shape, power)):
            places.put(place, below_top == power, high + lead - down, sign, frac_a, frac_b)
    top = min(high - 1, shape.c.e_max)
    lead = draws.integers(min(lowest_lead(shape.c), top), top, rows, endpoint=True)
    c = number(shape.c, sign ^ (beside == LESS), lead, fractions(draws, shape.c, (rows,)))
    return operands_of(shape, draws, places.moved(shape, draws), np.where(beside == NOTHING, zeros(shape.c, sign), c))


@lru_cache(maxsize=32)
def _completed(shape: OperandShape, below_top: int) -> list[tuple[int, int, int]]:
    """Products that add up to the largest power of two that all can reach, or to one of the next lower ones.

    Each product is the largest that fits into the rest, given as its exponent relative to that of the largest products, and
    the fractions of a and b.
    """
    man_a, man_b = shape.a.man_bits, shape.b.man_bits
    most_a, most_b = (
        of.max_finite >> of.pad_bits & ((1 << of.man_bits) - 1) | 1 << of.man_bits for of in (shape.a, shape.b)
    )
    rest = Fraction(1 << ((shape.K * most_a * most_b).bit_length() - 1 - below_top))
    # Significands of b of a few bits, the largest one too; with each the largest of a that goes in.
    few = max(man_b - 3, 0)
    sigs_b = sorted({min(sig << few, most_b) for sig in range(1 << (man_b - few), 2 << (man_b - few))} | {most_b})
    found: list[tuple[int, int, int]] = []
    while rest and len(found) < shape.K:
        down = max(man_a + man_b + 1 - (rest.numerator // rest.denominator).bit_length(), 0)
        pairs = [
            (Fraction(sig_a * sig_b, 1 << lower), lower, sig_a, sig_b)
            for lower in (down, down + 1)
            for sig_b in sigs_b
            if (sig_a := min(int(rest * (1 << lower) / sig_b), (2 << man_a) - 1 if lower else most_a)) >> man_a
        ]
        if not pairs:
            break
        product, lower, sig_a, sig_b = max(pairs)
        rest -= product
        found.append((-lower, sig_a - (1 << man_a), sig_b - (1 << man_b)))
    return found
