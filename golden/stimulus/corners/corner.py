"""The class of directed corners, functions that several of them share, and the corners of alignment: small terms beside
large ones, at every distance, that remain or cancel."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod

import numpy as np

from golden.arrays import BitArray
from golden.stimulus.classes import SPREADS
from golden.stimulus.codes import GeneratorDraws, IntArray, fractions, number, zeros
from golden.stimulus.placed_products import Products, lead_range, moved, operands_of, staircase, window
from golden.stimulus.shape import Operands, OperandShape

GAPS = 48
"""Exponent gaps that the sweeps cover, 0 … 47 (exponent value): more than the widest published alignment, F = 35."""


GOLDEN_SECTION = (5**0.5 - 1) / 2
"""The golden section: its first n multiples, modulo one, lie far apart for every n."""

Count = Callable[[OperandShape], int]


@dataclass(frozen=True)
class Corner:
    """A situation: its number of cases for a shape, and the generator of the rows of given cases.

    Attributes:
        directed: number of cases of level 1, which come first.
        cases: number of all cases, which are level 2.
        make: function that returns the operands of given cases, one row each.
    """

    directed: Count
    cases: Count
    make: Callable[[OperandShape, GeneratorDraws, IntArray], Operands]


def sweep(steps: int, *variants: int, directed: int) -> tuple[Count, Count]:
    """The two numbers of cases of `crossed`: level 1 takes each step `directed` times, level 2 takes it with all
    variants."""
    return lambda shape: steps * directed, lambda shape: steps * prod(variants)


def crossed(case: IntArray, steps: int, *variants: int) -> tuple[IntArray, ...]:
    """The step of a sweep and one choice of each kind of variant, all steps with all combinations. The first cases take
    every step once, the combinations in turn; the next cases take every step again, with combinations far from those."""
    combinations = prod(variants)
    step, far = case % steps, round(combinations * GOLDEN_SECTION)
    while gcd(far, combinations) > 1:
        far += 1
    combination = (case // steps * far + step) % combinations
    chosen = []
    for choices in variants:
        chosen.append(combination % choices)
        combination = combination // choices
    return step, *chosen


def either(first: np.ndarray, yes: Operands, no: Operands) -> Operands:
    """Select each row from `yes` or from `no`."""

    def chosen(x: BitArray | None, y: BitArray | None) -> BitArray | None:
        return None if x is None or y is None else np.where(first.reshape((-1,) + (1,) * (x.ndim - 1)), x, y)

    return Operands(*map(chosen, yes, no))  # type: ignore[arg-type]


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
