"""Corner of sticky bits: one bit alone below a result's last place, at every place one by one."""

from dataclasses import replace

import numpy as np

from golden.stimulus.chosen_sums import Places, codes_of, factors, with_last_bit_alone
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray, lowest_lead
from golden.stimulus.corners.corner import crossed
from golden.stimulus.placed_products import lead_range, lowest_normal_product, operands_of
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
