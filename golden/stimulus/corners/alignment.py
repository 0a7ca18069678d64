"""Corners of alignment: small terms beside large ones, at every distance, that remain or cancel."""

import numpy as np

from golden.stimulus.classes import SPREADS
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, number, zeros
from golden.stimulus.corners.corner import GAPS, crossed
from golden.stimulus.placed_products import Products, lead_range, moved, operands_of, staircase, window
from golden.stimulus.shape import Operands, OperandShape


def cancellation(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Terms that cancel down to nothing or to one product `gap` exponents below: products in pairs, or c against one."""
    gap, by_c, leaves = crossed(case, GAPS, 2, 2)
    by_c = by_c | (shape.K < 3)
    low, high = lead_range(shape)
    small = draws.integers(low, np.maximum(high - gap, low), endpoint=True)
    place = np.broadcast_to(np.arange(shape.K), (len(case), shape.K))
    sign = np.where(place == 0, 0, 1) ^ draws.integers(0, 2, (len(case), 1))
    remainder = other_block(shape) or (2 if shape.K > 2 else shape.K - 1)
    lead = np.where(place == remainder, small[:, None], (small + gap)[:, None])
    pair = np.where(by_c[:, None] == 1, place == 0, place <= 1)
    present = pair | ((place == remainder) & (leaves[:, None] == 1) & (shape.K > 1))
    c = np.where(by_c == 1, number(shape.c, 1 - sign[:, 0], small + gap), zeros(shape.c, sign[:, 0]))
    return operands_of(shape, draws, moved(shape, draws, Products(lead, sign, present)), c)


def alignment_edge(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Small terms `gap` exponents below the largest, every gap around any F: the large term is c cancelled by a product, two
    products that cancel, or c that stays; the small ones a staircase or random."""
    gap, large, stairs = crossed(case, GAPS, 3, 2)
    low, high = lead_range(shape)
    reach = np.where(large == 2, high, np.maximum(high - gap, low))
    small = draws.integers(low, reach, endpoint=True)
    top, rows = small + gap, len(case)
    sign, place = draws.integers(0, 2, rows), np.arange(shape.K)
    spread = draws.choice(SPREADS[:3], rows)
    random = window(shape, draws, small, spread)
    stepped = staircase(shape, draws, small, small - draws.integers(0, GAPS, rows), sign)
    use_stairs = (stairs == 1)[:, None]
    products = Products(
        np.where(use_stairs, stepped.lead, random.lead),
        np.where(use_stairs, stepped.sign, random.sign),
        np.where(use_stairs, stepped.present, True),
        np.where(use_stairs, stepped.frac_a, random.frac_a),
        np.where(use_stairs, stepped.frac_b, random.frac_b),
    )
    taken = np.where(large == 0, 1, np.where(large == 1, min(2, shape.K - 1), 0))[:, None] > place
    products.lead = np.where(taken, top[:, None], products.lead)
    products.sign = np.where(taken, place & 1, products.sign)
    products.frac_a, products.frac_b = np.where(taken, 0, products.frac_a), np.where(taken, 0, products.frac_b)
    beside_large = (place < other_block(shape)) & taken.any(axis=1, keepdims=True)
    products.present = taken | (products.present & ~beside_large)
    stays = number(shape.c, sign, top, fractions(draws, shape.c, (rows,)))
    c = np.select([large == 0, large == 1], [number(shape.c, 1 + 0 * sign, top), zeros(shape.c, sign)], stays)
    return operands_of(shape, draws, moved(shape, draws, products), c)


def other_block(shape: OperandShape) -> int:
    """The first place whose scale is not that of the first products, which may lie too far from them for one scale; 0 where
    there is none."""
    return shape.block_size if shape.block_size is not None and shape.blocks > 1 else 0
