"""Questions whose terms lie far below the largest ones, as far as the formats allow.

Products that cancel without a zero among them, whose exponent could count, leave c: no other question shows the precision of
a unit whose products are all cut where a zero is there, or that keeps more bits than the products of one block spread over.
And a c that is a tie of d, or a number of d, shows products far below it."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, lowest_lead, number
from golden.stimulus.placed_products import Products, lead_range, operands_of
from mmau.probe.features.feature import Feature, joined
from mmau.probe.features.precision import FAR

ROWS = 192


def below_products(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Products that cancel in periods of any length that divides K, c at every distance below them."""
    K = shape.K
    low, high = lead_range(shape)
    periods = [n for n in range(2, K + 1) if K % n == 0] or [1]
    period = draws.choice(periods, ROWS)[:, None]
    bottom = lowest_lead(shape.c)
    top = draws.integers(max(low, min(bottom, high)), max(low, min(high, shape.c.e_max + FAR)), ROWS, endpoint=True)
    c_lead = np.clip(top - draws.integers(0, FAR, ROWS, endpoint=True), bottom, shape.c.e_max)
    place = np.arange(K) % period  # an odd period begins with one number and two halves of it
    odd = period % 2 == 1
    begins = odd & (place < 3)
    sign = np.where(begins, place > 0, (place - odd) % 2).astype(np.int64) ^ draws.integers(0, 2, (ROWS, 1))
    lead = top[:, None] - (begins & (place > 0))
    c = number(shape.c, draws.integers(0, 2, ROWS), c_lead, fractions(draws, shape.c, (ROWS,)))
    return operands_of(shape, draws, Products(lead, sign), c)


def below_c(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """c is a tie of d where it is wide enough, else any number; products at every distance below it, one or all."""
    low, high = lead_range(shape)
    c_lead = draws.integers(lowest_lead(shape.c), shape.c.e_max, ROWS, endpoint=True)
    beyond = shape.c.man_bits - shape.d.man_bits
    frac = fractions(draws, shape.c, (ROWS,))
    if beyond > 0:
        frac = (frac >> beyond << beyond) + (draws.integers(0, 3, ROWS) > 0) * (1 << beyond - 1)
    c = number(shape.c, draws.integers(0, 2, ROWS), c_lead, frac)
    lead = np.clip(c_lead - draws.integers(0, FAR, ROWS, endpoint=True), low, high)[:, None]
    size = (ROWS, shape.K)
    one = np.arange(shape.K) == draws.integers(0, shape.K, (ROWS, 1))
    sign = draws.integers(0, 2, (ROWS, 1)) + np.zeros(size, np.int64)
    products = Products(lead + np.zeros(size, np.int64), sign, one | (draws.integers(0, 2, (ROWS, 1)) == 0))
    return operands_of(shape, draws, products, c)


BENEATH = Feature(
    "beneath", "products that cancel and c at every distance below, c and products at every distance below",
    ("F", "F2", "e_zero"), joined(below_products, below_c),
)  # fmt: skip
