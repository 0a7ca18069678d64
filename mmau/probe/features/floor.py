"""Questions that show the exponent of a zero: the smallest terms beside zeros, and c alone at every exponent."""

import numpy as np

from golden.arithmetic.formats import UE8M0
from golden.arrays import bits_dtype
from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, lowest_lead, number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of, window
from mmau.probe.features.feature import Feature, corner, joined

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
