"""Corners of sums that reach a power of two: c carried over it with a tie and a few bits left far below, and the largest
products that add up to one."""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from golden.stimulus.codes import IntArray, fractions, lowest_lead, number, zeros
from golden.stimulus.corners.corner import crossed
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.shape import Operands, OperandShape
from golden.stimulus.significands import codes_of
from golden.stimulus.sums import Places
from golden.stimulus.terms import lead_range, operands_of

TAIL_PLACES = 18
"""Places under a half at which the tail of a tie ends, 1 and up."""

TAILS = (1, 3, 5, -1, -3)
"""What is left below a tie, in its last bits: one or two ones, or a run of ones where it is taken away."""

CARRIED_TIES = TAIL_PLACES * len(TAILS) * 2 * 2
"""Where the tail ends, what it is, both signs, and whether it is beside a tie or beside a result."""


def carried_ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c just under a power of two, and a product that carries it there and on to a tie or a result: the sum has one place
    more above than its terms had, and loses the lowest places of a tail that another product adds. The tail has one or two
    ones, at every distance."""
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


BELOW_TOP = 4
"""Powers of two, from the largest that the products reach."""

BESIDE = NOTHING, LESS, MORE = range(3)
"""Beside the power of two: nothing, or a c that takes from it or adds to it."""

LARGEST_SUMS = BELOW_TOP * len(BESIDE) * 2 * 4
"""Powers, what is beside them, both signs, and how far all exponents lie below the largest ones."""


def largest_sums(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """The largest products there are, as many as go into a power of two, others that complete it, and c a little of either
    sign: sums that end at the top bits of an adder. The same some exponents below."""
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
    """Products that add up to the largest power of two that all can reach, or to one of the next ones: exponent under that
    of the largest products, and fractions of a and b. Each is the largest that goes into what is left."""
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
