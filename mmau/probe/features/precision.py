"""Precision: two large terms cancel, and small ones lie at every distance below them. The remainder shows how many bits of a
term are retained, and whether the bits below are truncated, rounded or become a sticky bit."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of, window
from mmau.probe.features.feature import Feature, concatenated, spans

NEAR, STEP, FAR = 40, 3, 140
"""Every distance up to 40 exponents, then every third up to 140: F is at most 128."""


def distances(shape: OperandShape) -> np.ndarray:
    """Exponent gaps between the large terms and the small ones."""
    reach = max(spans(shape, FAR), min(FAR, shape.c.e_max - lead_range(shape)[0]))
    return np.array([gap for gap in range(reach + 1) if gap <= NEAR or gap % STEP == 0])


def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """c against a product, a product against another, and c alone, each with random small products."""
    return concatenated([_cancelled(shape, draws, by_c) for by_c in (True, False)] + [_beside_c(shape, draws)])


def _cancelled(shape: OperandShape, draws: GeneratorDraws, by_c: bool) -> Operands:
    gap = distances(shape)
    rows = len(gap)
    low, high = lead_range(shape)
    top = np.minimum(draws.integers(low, high, rows, endpoint=True), shape.c.e_max) if not by_c else np.clip(
        low + gap + draws.integers(0, 6, rows), low, min(high, shape.c.e_max)
    )  # fmt: skip
    top = np.maximum(top, np.minimum(low + gap, high))
    small = window(shape, draws, top - gap, np.full(rows, 2))
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    other = draws.integers(1, shape.K, rows) if shape.K > 1 else np.zeros(rows, np.int64)
    first = place == 0
    second = (place == other[:, None]) & ~first if not by_c else np.zeros_like(first)
    large = first | second
    sign = np.where(first, 0, np.where(second, 1, small.sign))
    lead = np.where(large, top[:, None], small.lead)
    products = Products(
        lead, sign, True, np.where(large, 0, small.frac_a), np.where(large, 0, small.frac_b), subnormal_factors="any"
    )
    plus = np.zeros(rows, np.int64)
    c = number(shape.c, plus + 1, top) if by_c else zeros(shape.c, plus)
    return operands_of(shape, draws, products, c)


def _beside_c(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    gap = distances(shape)[: NEAR + 1]
    rows = len(gap)
    low, high = lead_range(shape)
    top = draws.integers(low, high, rows, endpoint=True)
    small = window(shape, draws, top, np.full(rows, 1))
    c = number(shape.c, draws.integers(0, 2, rows), top + gap - 12, fractions(draws, shape.c, (rows,)))
    return operands_of(shape, draws, small, c)


PRECISION = Feature("precision", "small terms at every distance below large ones that cancel", ("F", "F2"), questions)
