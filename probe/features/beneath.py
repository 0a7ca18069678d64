"""What lies far beneath sums that cancel: products alone reach as high as the formats and scales let them, cancel without a
zero among them, whose exponent could count, and leave c. No other question shows the precision of a unit whose products are
all cut where a zero is there, or that keeps more bits than the products of one block spread over."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, lowest_lead, number
from golden.stimulus.terms import Products, lead_range, operands_of
from probe.features.feature import Feature
from probe.features.precision import FAR

ROWS = 96


def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
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


BENEATH = Feature("beneath", "products that cancel, c at every distance below them", ("F", "e_zero"), questions)
