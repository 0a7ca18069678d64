"""Summation order: which terms meet in which node. A large term in one place, its opposite in another, and small ones in all
others: terms that a node adds to only one of the two are lost (FPRev)."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of
from mmau.probe.features.feature import Feature

MOST = 48
"""Largest number of rows."""


def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Pairs of places, c among them, as far apart as every power of two and at random."""
    K = shape.K
    pairs = {(0, j) for j in range(1, K + 1)} | {(j, K) for j in range(K)}
    pairs |= {(j, j + step) for step in (1, 2, 4, 8, 16, 32) for j in (0, step, 2 * step) if j + step <= K}
    listed = sorted(pairs)
    chosen = [listed[int(n)] for n in np.unique(np.linspace(0, len(listed) - 1, min(MOST, len(listed))))]
    first, second = (np.array(column)[:, None] for column in zip(*chosen, strict=True))
    rows = len(chosen)
    low, high = lead_range(shape)
    top = min(high, shape.c.e_max, shape.d.e_max - 1)
    bottom = max(low, top - draws.integers(20, 60, rows).max() if high - low > 80 else low)
    place = np.broadcast_to(np.arange(K), (rows, K))
    large = (place == first) | (place == second)
    lead = np.where(large, top, bottom + draws.integers(0, 4, (rows, K)))
    products = Products(lead, (place == second).astype(np.int64), True)
    plus = np.zeros(rows, np.int64)
    c = np.where(second[:, 0] == K, number(shape.c, plus + 1, plus + top), zeros(shape.c, plus))
    return operands_of(shape, draws, products, c)


ORDER = Feature(
    "summation order", "two large terms of opposite sign in two places, small ones elsewhere", ("L", "G", "P", "order"),
    questions,
)  # fmt: skip
