"""Corners of wide products: special significands with c at every distance, a c that completes them to a tie, and a
cancellation that leaves their last bits."""

import numpy as np

from golden.stimulus.chosen_sums import Places, bit_length, codes_of, significands
from golden.stimulus.codes import GeneratorDraws, IntArray, number
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.placed_products import Products, lead_range, operands_of
from golden.stimulus.shape import Operands, OperandShape

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
