"""Corners of wide products: special significands with c at every distance, a c that completes them to a tie, and a
cancellation that leaves their last bits."""

from dataclasses import replace

import numpy as np

from golden.stimulus.chosen_sums import Places, bit_length, codes_of, factors, significands, with_last_bit_alone
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray, lowest_lead, number
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.placed_products import Products, lead_range, lowest_normal_product, operands_of
from golden.stimulus.shape import Operands, OperandShape

HOLDERS = C_BELOW, PRODUCT_BELOW, TWO_OF_C = range(3)
"""The term that holds the lone bit. C_BELOW: c; products hold the rest. PRODUCT_BELOW: a product; c holds the retained bits.
TWO_OF_C: c, with a second bit: half of the last place or the second-last bit of the result, which products then lack; with a
single product that product's last bit, so that alignment may drop both in different places."""

FAR = (66, 100, 128, 160, 176, 200, 224)
"""Places far below the result, which together need shifts of every power of two."""


def lone_bit_places(shape: OperandShape) -> IntArray:
    """Places of the lone bit, below half of the result's last place: all that a product of the result's precision reaches,
    and some far below."""
    return np.array([*range(2 * shape.d.man_bits + 2), *FAR])


def lone_bit_cases(shape: OperandShape) -> int:
    """Number of cases of `lone_bits`: place × below a tie or a result × holder × anywhere or at the low end."""
    return len(lone_bit_places(shape)) * 2 * len(HOLDERS) * 2


def lone_bits(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """An even result, or a tie above one, and a single bit below. Only this bit tells that the sum is not exact, or how the
    tie is rounded.

    The bit takes all places, anywhere in the result's range and near its smallest numbers. Near the smallest numbers a third
    of the rows have another bit beside it, so that the number of bits is even, and in another third c holds two bits, its
    smallest ones, below a single product. Elsewhere the factors and c are normal if the place allows it, because some
    operations read subnormal numbers as zeros.
    """
    reach = lone_bit_places(shape)
    step, tie, holder, at_low_end = crossed(case, len(reach), 2, len(HOLDERS), 2)
    place = reach[step]
    rows, (low, high), d = len(case), lead_range(shape), shape.d
    tail = np.where((at_low_end == 1) & (holder == TWO_OF_C) & (place > 0), 3, 1)
    # Under the result's smallest numbers c has no bits; below a single product it is three times its smallest number.
    smallest_c = (at_low_end == 1) & (holder == C_BELOW) & (shape.K == 1)
    holder = np.where((at_low_end == 1) & ~smallest_c, PRODUCT_BELOW, holder)
    two = holder == TWO_OF_C
    wide = shape.c.man_bits * (two & (shape.K == 1))
    by_c = holder != PRODUCT_BELOW
    # 1. exponents: of the half of the last place, and of the lone bit
    lowest, normal = (
        np.maximum(max(lowest_lead(d) - 1, of_products), np.where(by_c, of_c + wide, of_products) + place + 1)
        for of_products, of_c in ((low, lowest_lead(shape.c)), (lowest_normal_product(shape), shape.c.e_min))
    )
    highest = np.maximum(min(high, shape.c.e_max, d.e_max) - d.man_bits - 2, lowest)
    least = np.where(normal <= highest, normal, lowest)
    half = np.where(at_low_end == 1, lowest, draws.integers(least, highest, endpoint=True))
    lone, sign = half - 1 - place, draws.integers(0, 2, rows)
    upper, lower = _kept(shape, draws, half < lowest_lead(d))
    # 2. c: the lone bit, with another above it where it has room; or what is kept
    above = np.where(tie == 1, 0, 2)
    shift = np.where(two & (shape.K > 1) & (place + 1 + above <= shape.c.man_bits), place + 1 + above, wide)
    c_alone = np.where(smallest_c & (place > 0), 3, np.where(shift > 0, (np.int64(1) << shift) + 1, 1))
    c = codes_of(shape.c, sign, np.where(by_c, c_alone, upper + lower), np.where(by_c, lone - wide, half))
    # 3. products: what c does not hold
    places = Places(rows, shape.K)
    if shape.K == 1:
        _put_single(shape, draws, places, by_c, half, place, tie, sign)
    else:
        first, second, last = (0, shape.K // 3, 2 * shape.K // 3) if shape.K > 2 else (0, 1, 1)
        rest = lower + np.where(shift > 0, 0, tie)
        places.put_integer(first, by_c, sign, upper, half, shape.a)
        places.put_integer(first, ~by_c, sign, tie, half, shape.a)
        places.put_integer(second, by_c, sign, rest, half, shape.a)
        places.put_integer(last, ~by_c, sign, tail, lone, shape.a)
    products = replace(places.moved(shape, draws), subnormal_factors="avoided")
    return operands_of(shape, draws, products, c)


def _kept(shape: OperandShape, draws: GeneratorDraws, is_subnormal: BoolArray) -> tuple[IntArray, IntArray]:
    """Even results in two parts that add up, each of which a product can hold, in halves of their last place: upper bits,
    and lower ones of which the last but one is free for c; of subnormal results any number of bits."""
    rows, whole, width = len(is_subnormal), shape.d.man_bits + 1, shape.a.man_bits + 1
    bits = np.where(is_subnormal, draws.integers(2, whole, rows, endpoint=True), whole)
    of_upper = np.clip(bits - 2, 1, width)
    leading = np.int64(1) << (of_upper - 1)
    upper = (leading | draws.integers(0, leading)) << (bits + 1 - of_upper)
    # In bits 3 and up, below the upper part: bit 0 is the half, bit 1 the last place, bit 2 may be c's.
    of_lower = np.clip(bits + 1 - of_upper - 3, 0, max(width - 3, 0))
    return upper, draws.integers(0, np.int64(1) << of_lower) << 3


def _put_single(
    shape: OperandShape, draws: GeneratorDraws, places: Places, by_c: BoolArray, half: IntArray, place: IntArray,
    tie: IntArray, sign: IntArray,
) -> None:  # fmt: skip
    """The only product: an even result or a tie, with all its bits; or the lone bit, with the half above it in a tie."""
    rows, man_b, is_tie = len(half), shape.b.man_bits, tie == 1
    width = np.full(rows, min(shape.d.man_bits + 2, shape.a.man_bits + man_b + 2))
    frac_a, frac_b, reach = factors(shape.a, shape.b, draws, width - 2 * (1 - tie), 0 * tie)
    places.put(0, by_c, half + 2 * (1 - tie) + reach, sign, frac_a, frac_b)
    apart = place + 1
    together = ~by_c & is_tie & (apart <= man_b)
    frac_a, frac_b, reach = with_last_bit_alone(shape.a, shape.b, draws, np.clip(apart, 1, man_b))
    places.put(0, ~by_c, half - apart, sign)
    places.put(0, together, half - apart + reach, sign, frac_a, frac_b)


OFF = (0, 1, -1)
"""Distances of c from the negated product (units in the last place)."""


def offsets(shape: OperandShape) -> int:
    """Distances between a product and c at which bits of both can meet in the result, and a few more on either side."""
    return shape.a.man_bits + shape.b.man_bits + shape.d.man_bits + 16


def significant_products(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Products of special significands and a c of one, its exponent from far above them to far below: one product, or all
    of them within a few exponents."""
    step, several, round_c = crossed(case, offsets(shape), 2, 2)
    rows = len(case)
    (low, high), frac = lead_range(shape), _fractions(shape, draws, (rows, shape.K))
    above = shape.d.man_bits + 6 - step
    lowest, highest = np.maximum(low, shape.c.e_min - above), np.minimum(high, shape.c.e_max - above)
    lead = draws.integers(lowest, np.maximum(highest, lowest), endpoint=True)
    at_result = np.clip(shape.d.e_min - draws.integers(-2, shape.d.man_bits + 3, rows), low, high)
    lead = np.where(draws.integers(0, 4, rows) == 0, at_result, lead)
    apart = draws.integers(0, shape.a.man_bits + 2, (rows, shape.K))
    present = (several == 1)[:, None] | (np.arange(shape.K) == draws.integers(0, shape.K, (rows, 1)))
    products = Products(lead[:, None] - np.where(several == 1, 1, 0)[:, None] * apart, draws.integers(0, 2, apart.shape))
    products.present, products.frac_a, products.frac_b = present, *frac
    # From a power of two a product borrows through all bits, and the result has one more below.
    c_frac = np.where((round_c == 1) & (above > 0), 0, _fraction(draws, shape.c.man_bits, (rows,)))
    return operands_of(shape, draws, products, number(shape.c, draws.integers(0, 2, rows), lead + above, c_frac))


def completed_products(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product with all its bits, and a c that completes it to a tie or to a result: exactly, or except for a last bit at
    every distance below the product."""
    step, target, off = crossed(case, GAPS, 2, len(OFF))
    rows, off = len(case), np.array(OFF)[off]
    man_a, man_b, man_c, man_d = shape.a.man_bits, shape.b.man_bits, shape.c.man_bits, shape.d.man_bits
    (low, high), (frac_a, frac_b) = lead_range(shape), _fractions(shape, draws, (rows,))
    lowest = min(max(low + man_a + man_b, shape.c.e_min), high)
    lead = draws.integers(lowest, max(min(high, shape.c.e_max - 2, shape.d.e_max - 2), lowest), rows, endpoint=True)
    # 1. the product in Python's integers, with zeros below where it is narrower than a result and its half
    sig = (frac_a + (1 << man_a)).astype(object) * (frac_b + (1 << man_b))
    zeros_below = max(man_d + 4 - man_a - man_b, 0)
    sig, lsb = sig << zeros_below, lead - man_a - man_b - zeros_below
    # 2. c: from the product to an odd number of halves of a unit in the last place, or to an even one
    half = bit_length(sig) - man_d - 2
    halves = sig >> half
    wanted = halves + np.where(halves % 2 != (target == 0), draws.choice([1, -1], rows), 0)
    missing = (wanted << half) - sig
    more = np.minimum(step, np.maximum(man_c + 1 - bit_length(missing), 0))
    sign, places = draws.integers(0, 2, rows), Places(rows, shape.K)
    c = codes_of(shape.c, sign, ((missing << more) + off).astype(np.int64), lsb - more)
    places.put(0, np.ones(rows, np.bool_), lead, sign, frac_a, frac_b)
    return operands_of(shape, draws, places.moved(shape, draws), c)


def cancelled_products(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """A product, less what c can hold of it, or less another product that is equal or one unit in the last place off: its
    last bits remain, and a third term of either sign carries into them from below or among them."""
    step, by_c, off = crossed(case, GAPS, 2, len(OFF))
    rows, off = len(case), np.array(OFF)[off]
    third = draws.integers(0, 3, rows)
    by_c = (by_c == 1) | (shape.K == 1)
    man_a, man_b, man_c = shape.a.man_bits, shape.b.man_bits, shape.c.man_bits
    (low, high), (frac_a, frac_b) = lead_range(shape), _fractions(shape, draws, (rows,))
    # Exponents at which c and the product's last bit are in range where the formats allow it.
    lowest = min(max(low + man_a + man_b, shape.c.e_min), high)
    lead = draws.integers(lowest, max(min(high, shape.c.e_max - 2), lowest), rows, endpoint=True)
    sign, places = draws.integers(0, 2, rows), Places(rows, shape.K)
    everywhere = np.ones(rows, np.bool_)
    places.put(0, everywhere, lead, sign, frac_a, frac_b)
    # 1. c nearest to the product from below, or one off: exact in Python's integers, fp64 has products of 106 bits
    sig = (frac_a + (1 << man_a)).astype(object) * (frac_b + (1 << man_b))
    lost = np.maximum(bit_length(sig) - man_c - 1, 0)
    taken = (sig >> lost).astype(np.int64) + off
    length = bit_length(taken)
    lsb = lead - man_a - man_b
    aligned = np.where(length <= man_c + 1, taken << np.maximum(man_c + 1 - length, 0), taken >> 1)
    c = number(shape.c, 1 - sign, lsb + lost + length - 1, aligned - (1 << man_c))
    c_of_third = number(shape.c, sign ^ (third == 2), lsb + step - 2, _fraction(draws, man_c, (rows,)))
    c_of_third = np.where(third == 0, number(shape.c, sign, shape.c.e_min - man_c), c_of_third)
    # 2. another product, and the third term
    if shape.K > 1:
        other = np.clip(frac_b + off, 0, (1 << man_b) - 1)
        places.put(1, ~by_c, lead, 1 - sign, frac_a, other)
        places.put(shape.K - 1, by_c & (third > 0), lsb + step - 2, sign ^ (third == 2), _fraction(draws, man_a, (rows,)))
    return operands_of(shape, draws, places.moved(shape, draws), np.where(by_c, c, c_of_third))


def _fractions(shape: OperandShape, draws: GeneratorDraws, size: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    return _fraction(draws, shape.a.man_bits, size), _fraction(draws, shape.b.man_bits, size)


def _fraction(draws: GeneratorDraws, man_bits: int, size: tuple[int, ...]) -> IntArray:
    """Fractions of special significands."""
    return significands(draws, np.full(size, man_bits + 1)) - (1 << man_bits)
