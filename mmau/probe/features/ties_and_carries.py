"""Rounding: ties, sums a little more and a little less, carries, of both signs; how ρ rounds them, and how truncation
left for it."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of
from mmau.probe.features.feature import Feature, corner, joined

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


def full_sums(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Sums as long as they get, in which ties meet lost bits: half of the products have one exponent, the others lie
    at every distance below, all with one sign. In half of the rows only the last places are filled, any number of them: a
    step that follows would hide what one does. In half of the rows the result is about a normal number."""
    rows = 24
    low, high = lead_range(shape)
    half = draws.integers(0, 2, (rows, 1)) == 0
    lead = np.where(
        half, draws.integers(low, high, (rows, 1), endpoint=True),
        draws.integers(max(low, min(shape.d.e_min, high)), max(low, min(high, shape.d.e_max)), (rows, 1), endpoint=True),
    )  # fmt: skip
    size = (rows, shape.K)
    below = draws.integers(0, 2, size) * draws.integers(0, draws.integers(8, 48, (rows, 1)), size)
    frac_a, frac_b = (fractions(draws, f, size) for f in (shape.a, shape.b))
    sign = np.broadcast_to(draws.integers(0, 2, (rows, 1)), size)
    filled = np.where(draws.integers(0, 2, (rows, 1)) == 0, shape.K, draws.integers(1, shape.K, (rows, 1), endpoint=True))
    present = np.arange(shape.K) >= shape.K - filled
    products = Products(lead - below, sign, present, frac_a, frac_b, subnormal_factors="any")
    c = number(shape.c, draws.integers(0, 2, rows), lead[:, 0] - below[:, 0], fractions(draws, shape.c, (rows,)))
    return operands_of(shape, draws, products, c)


ROUNDING = Feature(
    "rounding", "ties and their neighbours, carries, significant products", ("rho", "truncation", "sticky"),
    joined(corner("ties", 48), corner("carries", 16), corner("significant-products", 24), full_sums),
)  # fmt: skip

ALL_TIES = Feature("all ties", "ties with a term at every distance below", ("F2", "rho", "sticky"), corner("ties", 1 << 11))
