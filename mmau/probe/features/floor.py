"""Questions that show the exponent of a zero: the smallest terms beside zeros, and c alone at every exponent."""

import numpy as np

from golden.arithmetic.formats import UE8M0
from golden.arrays import bits_dtype
from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, lowest_lead, number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of, window
from mmau.probe.features.feature import Feature, concatenated, corner, joined, spans

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


STEPS = 40


def c_alone(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """All products zero, c at exponents from its smallest to its largest."""
    lead = np.unique(np.linspace(lowest_lead(shape.c), shape.c.e_max, STEPS).astype(np.int64))
    rows = len(lead)
    nothing = Products(np.zeros((rows, shape.K), np.int64), np.zeros((rows, shape.K), np.int64), False)
    c = number(shape.c, draws.integers(0, 2, rows), lead, fractions(draws, shape.c, (rows,)))
    return operands_of(shape, draws, nothing, c)


def product_alone(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """c zero, one product at exponents from the smallest to the largest."""
    low, high = lead_range(shape)
    lead = np.unique(np.linspace(low, high, STEPS).astype(np.int64))[:, None]
    rows = len(lead)
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    present = place == draws.integers(0, shape.K, (rows, 1))
    frac_a, frac_b = (fractions(draws, f, (rows, shape.K)) for f in (shape.a, shape.b))
    products = Products(
        lead + 0 * place, draws.integers(0, 2, place.shape), present, frac_a, frac_b, subnormal_factors="any"
    )
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


def small_sums(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """c zero, no product zero, spread over few or many exponents: in most rows the sum is about the smallest result.
    Bits that are truncated far below, under a floor above all terms, change the result of few of them."""
    rows = 1024
    low, high = lead_range(shape)
    spread = draws.integers(0, 24, rows)
    carried = draws.integers(0, shape.K.bit_length(), rows, endpoint=True)  # bits that a sum may lie above its terms
    smallest = lowest_lead(shape.d) + draws.integers(-2, 4, rows) - carried
    anywhere = draws.integers(low, high, rows, endpoint=True)
    top = np.where(draws.integers(0, 4, rows) > 0, smallest, anywhere)
    products = window(shape, draws, np.clip(top, low, high), spread)
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


SMALL_SUMS = Feature("small sums", "products without c, about the smallest results", ("e_zero", "F"), small_sums)


def nearly_cancelled(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """c zero, and under the smallest scales two of the smallest products, opposite but for the last bit of a. The remainder
    lies below all other sums: a floor that cuts nothing else shows there. No rows where there is one product alone."""
    rows = 256 if shape.K > 1 else 0
    size = (rows, shape.K)
    lead_a, lead_b = (f.e_min + draws.integers(-1, 3, (rows, 1)) for f in (shape.a, shape.b))
    frac_a, frac_b = (fractions(draws, f, (rows, 1)) for f in (shape.a, shape.b))
    order = draws.integers(0, 1 << 32, size).argsort(axis=1)  # the pair stands in any two places
    first, second = order == 0, order == 1
    sign, sign_b = draws.integers(0, 2, (rows, 1)), draws.integers(0, 2, (rows, 1))
    a = number(shape.a, sign ^ second, lead_a, frac_a ^ second)
    b = number(shape.b, sign_b + 0 * order, lead_b, frac_b)
    nothing = ~(first | second)
    blocks = (rows, shape.blocks)
    scale = None if shape.scale is None else np.full(blocks, 0 if shape.scale is UE8M0 else 1, bits_dtype(shape.scale))
    return Operands(
        np.where(nothing, zeros(shape.a, sign + 0 * order), a), np.where(nothing, zeros(shape.b, sign_b + 0 * order), b),
        zeros(shape.c, draws.integers(0, 2, rows)), scale, scale,
    )  # fmt: skip


NEARLY_CANCELLED = Feature(
    "smallest sums", "the smallest products, opposite but for a bit", ("e_zero", "F"), nearly_cancelled
)

FLOOR = Feature(
    "e_zero floor", "c alone, a product alone, and the smallest terms, beside zeros", ("e_zero",),
    joined(c_alone, product_alone, corner("e_zero-floor", 32)),
)  # fmt: skip
