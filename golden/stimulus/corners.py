"""Directed corners: inputs made for one situation each. Every corner is a list of cases; a row is one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.formats import Format
from golden.stimulus.classes import SPREADS, normal
from golden.stimulus.codes import IntArray, fractions, landmarks, lowest_lead, number, zeros
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.shape import Operands, OperandShape
from golden.stimulus.terms import Products, lead_range, operands_of, shuffled, staircase, window

GAPS = 48
"""Exponent gaps that the sweeps cover, 0 … 47 (exponent value): more than the widest published alignment, F = 35."""


@dataclass(frozen=True)
class Corner:
    """A situation: how many cases of it there are for a shape, and how rows of given cases are made."""

    cases: Callable[[OperandShape], int]
    make: Callable[[OperandShape, GeneratorDraws, IntArray], Operands]


def _gap_sweep(variants: int) -> Callable[[OperandShape], int]:
    return lambda shape: GAPS * variants


def ties(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c, half an ulp of it, and nothing more (a tie), or a little more or less at every distance below."""
    beside, distance = case // GAPS, case % GAPS
    low, high = lead_range(shape)
    half = draws.integers(np.minimum(low + distance, high), high, endpoint=True)
    whole = half + shape.d.man_bits + 1
    c_lead = np.clip(whole, max(shape.c.e_min, shape.d.e_min), min(shape.c.e_max, shape.d.e_max))
    half += c_lead - whole
    return _rounded_at(shape, draws, c_lead, half, beside, distance, _short_fractions(shape, draws, len(case)))


def overflow(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums just below, at and above the largest result: c none to two ulps under it and a product from an eighth of an ulp
    to two, with or without a little more or less; or products that reach it together."""
    step, beside, ulps, rows = case % 5, case // 5 % 3, case // 15, len(case)
    kept = min(shape.c.man_bits, shape.d.man_bits)
    frac = ((1 << kept) - 1 - np.minimum(ulps, (1 << kept) - 1)) << (shape.c.man_bits - kept)
    lead = np.full(rows, min(shape.c.e_max, shape.d.e_max))
    half = lead - shape.d.man_bits - 3 + step
    near = _rounded_at(shape, draws, lead, half, beside, draws.integers(0, 8, rows), frac)
    top = shape.d.e_max - int(np.log2(shape.K)) + draws.integers(-1, 2, rows)
    together = window(shape, draws, top, draws.choice(SPREADS[:3], rows))
    one_sign = draws.integers(0, 2, rows)
    together.sign = np.broadcast_to(one_sign[:, None], together.sign.shape)
    c = number(shape.c, one_sign ^ (beside == 2), top - draws.integers(0, 4, rows), fractions(draws, shape.c, (rows,)))
    return _either(ulps > 2, operands_of(shape, draws, together, c), near)


def cancellation(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Terms that cancel down to nothing or to one product `gap` exponents below: products in pairs, or c against one."""
    gap, by_c, leaves = case % GAPS, case // GAPS % 2, case // (2 * GAPS)
    by_c = by_c | (shape.K < 3)
    low, high = lead_range(shape)
    small = draws.integers(low, np.maximum(high - gap, low), endpoint=True)
    place = np.broadcast_to(np.arange(shape.K), (len(case), shape.K))
    sign = np.where(place == 0, 0, 1) ^ draws.integers(0, 2, (len(case), 1))
    remainder = 2 if shape.K > 2 else shape.K - 1
    lead = np.where(place == remainder, small[:, None], (small + gap)[:, None])
    pair = np.where(by_c[:, None] == 1, place == 0, place <= 1)
    present = pair | ((place == remainder) & (leaves[:, None] == 1) & (shape.K > 1))
    c = np.where(by_c == 1, number(shape.c, 1 - sign[:, 0], small + gap), zeros(shape.c, sign[:, 0]))
    return operands_of(shape, draws, shuffled(draws, Products(lead, sign, present)), c)


def e_zero_floor(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c zero and only tiny products, so that the exponent of a zero decides where they are truncated: staircases down to
    every exponent below the result's smallest, which RZ sees, and to half of it beside that smallest, which RNE sees; a tie
    with a little more or less; random products."""
    depth, kind, rows = case % GAPS, case // GAPS, len(case)
    low, high = lead_range(shape)
    lowest = lowest_lead(shape.d)
    sign = draws.integers(0, 2, rows)
    top = np.where(kind == 0, lowest + draws.integers(0, 4, rows), lowest - 1)
    stairs = staircase(shape, draws, top, np.maximum(np.minimum(top, lowest - depth), low), sign)
    beside = (kind == 1)[:, None] & (np.arange(shape.K) == np.argmin(stairs.present, axis=1)[:, None])
    stairs.lead = np.where(beside, lowest, stairs.lead)
    stairs.frac_a = np.where(beside, 0, stairs.frac_a)
    stairs.present = beside | stairs.present
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    lead = np.where(place == 0, lowest - 1, np.maximum(lowest - 2 - depth, low)[:, None])
    flips = (place > 0) & (draws.integers(0, 2, (rows, 1)) == 1)
    tie = shuffled(draws, Products(lead, sign[:, None] ^ flips, place < 2))
    near = np.clip(max(low, lowest - GAPS // 3) + depth, low, high)
    cloud = window(shape, draws, near, draws.choice(SPREADS[:4], rows))
    c = zeros(shape.c, draws.integers(0, 2, rows))
    directed = _either(kind == 2, operands_of(shape, draws, tie, c), operands_of(shape, draws, stairs, c))
    return _either(kind == 3, operands_of(shape, draws, cloud, c), directed)


def subnormal_results(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums below the result's smallest normal number: small products alone, c alone beside zero products, and c just above
    against a product that takes most of it away. Where products do not reach that low, c alone."""
    span = shape.d.man_bits + 2
    target, kind = shape.d.e_min - case % span, case // span
    low, _ = lead_range(shape)
    rows, sign = len(case), draws.integers(0, 2, len(case))
    products = window(shape, draws, target, draws.choice(SPREADS[:3], rows))
    by_products = (kind == 0) & (target >= low)
    c_frac = fractions(draws, shape.c, (rows,))
    products.present = np.broadcast_to(by_products[:, None], products.lead.shape)
    alone = operands_of(
        shape, draws, products, np.where(by_products, zeros(shape.c, sign), number(shape.c, sign, target, c_frac))
    )
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    taken = np.full((rows, shape.K), shape.d.e_min)
    taken_away = shuffled(draws, Products(taken, np.broadcast_to(1 - sign[:, None], taken.shape), place == 0))
    just_above = number(shape.c, sign, taken[:, 0], c_frac >> draws.integers(0, span, rows))
    against = operands_of(shape, draws, taken_away, just_above)
    return _either((kind == 2) & (taken[:, 0] >= low), against, alone)


def alignment_edge(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Small terms `gap` exponents below the largest, every gap around any F: the large term is c cancelled by a product, two
    products that cancel, or c that stays; the small ones a staircase or random."""
    gap, large, stairs = case % GAPS, case // GAPS % 3, case // (3 * GAPS)
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
    products.present = taken | products.present
    stays = number(shape.c, sign, top, fractions(draws, shape.c, (rows,)))
    c = np.select([large == 0, large == 1], [number(shape.c, 1 + 0 * sign, top), zeros(shape.c, sign)], stays)
    return operands_of(shape, draws, shuffled(draws, products), c)


def special_operands(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """One landmark in one place, every landmark in every place of a, b, c and the scales, all else moderate."""
    start = normal(shape, draws, len(case))
    remaining, filled = case, []
    for codes, operand in _places(shape, start):
        columns = codes.reshape(len(case), -1).copy()
        options = landmarks(operand)
        for column in range(columns.shape[1]):
            mine = (remaining >= 0) & (remaining < len(options))
            choice = np.array(options, codes.dtype)[np.where(mine, remaining, 0)]
            columns[:, column] = np.where(mine, choice, columns[:, column])
            remaining = remaining - len(options)
        filled.append(columns.reshape(codes.shape))
    return Operands(filled[0], filled[1], filled[2], *(filled[3:] or (None, None)))


def _special_operand_cases(shape: OperandShape) -> int:
    scales = 0 if shape.scale is None else 2 * shape.blocks * len(landmarks(shape.scale))
    return shape.K * (len(landmarks(shape.a)) + len(landmarks(shape.b))) + len(landmarks(shape.c)) + scales


def special_pairs(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Every landmark times every landmark in a random place; beside it, in every other row, a landmark in c."""
    start = normal(shape, draws, len(case))
    a_options, b_options, c_options = landmarks(shape.a), landmarks(shape.b), landmarks(shape.c)
    here = np.arange(shape.K) == draws.integers(0, shape.K, (len(case), 1))
    a = np.array(a_options, start.a.dtype)[case % len(a_options)]
    b = np.array(b_options, start.b.dtype)[case // len(a_options)]
    c = np.array(c_options, start.c.dtype)[draws.integers(0, len(c_options), len(case))]
    return start._replace(
        a=np.where(here, a[:, None], start.a),
        b=np.where(here, b[:, None], start.b),
        c=np.where(draws.integers(0, 2, len(case)) == 1, c, start.c),
    )


def c_sweep(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c through all its classes and exponents against moderate products."""
    options = _c_values(shape.c)
    start = normal(shape, draws, len(case))
    return start._replace(c=np.array(options, start.c.dtype)[case])


def _c_values(c: Format) -> list[int]:
    """Landmarks, and both signs of at most 256 exponents over the whole range."""
    low, high = lowest_lead(c), c.e_max
    lead = np.unique(np.linspace(low, high, min(high - low + 1, 256)).round().astype(np.int64))
    swept = [int(code) for sign in (0, 1) for code in number(c, np.full(len(lead), sign), lead)]
    return list(dict.fromkeys(landmarks(c) + swept))


DISCREPANCY_A, DISCREPANCY_B, DISCREPANCY_C = (-(2.0**13), -0.5, -0.25, -0.125), (2.0**10, 1.0, 1.0, 1.0), 2.0**23
"""Paper 000's input on which nearly every architecture differs (numerics.md, section 8)."""


def discrepancy(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Paper 000's discrepancy input as published (case 0), rotated through all places, and with every sign flipped."""
    rotation, flipped, row = case % shape.K, case // shape.K, np.arange(len(case))
    a = zeros(shape.a, np.zeros((len(case), shape.K)))
    b = zeros(shape.b, np.zeros((len(case), shape.K)))
    for k, (value_a, value_b) in enumerate(zip(DISCREPANCY_A, DISCREPANCY_B, strict=True)):
        place = (rotation + k) % shape.K
        a[row, place] = _value_of_either_sign(shape.a, value_a)[flipped]
        b[row, place] = shape.b.encode(value_b)
    c = _value_of_either_sign(shape.c, DISCREPANCY_C)[flipped]
    scales: list[BitArray | None] = [None, None]
    if shape.scale is not None:
        unscaled = np.zeros((len(case), shape.blocks), np.int64)
        scales = [number(shape.scale, unscaled, unscaled) for _ in range(2)]
    return Operands(a, b, c, scales[0], scales[1])


def _value_of_either_sign(operand: Format, value: float) -> BitArray:
    return np.array([operand.encode(value), operand.encode(-value)], bits_dtype(operand))


def _discrepancy_cases(shape: OperandShape) -> int:
    """None where a format cannot hold a value or there are fewer than four products."""
    wanted = [(shape.a, v) for v in DISCREPANCY_A] + [(shape.b, v) for v in DISCREPANCY_B] + [(shape.c, DISCREPANCY_C)]
    holds = all(operand.value(operand.encode(value)) == value for operand, value in wanted)
    return 2 * shape.K if holds and shape.K > 3 else 0


def _rounded_at(
    shape: OperandShape, draws: GeneratorDraws, lead: IntArray, half: IntArray, beside: IntArray, distance: IntArray,
    frac: IntArray,
) -> Operands:  # fmt: skip
    """c at exponent `lead`, a product of its sign at `half`, and where `beside` is 1 or 2 a product `distance` + 1 below
    that one, of the same or of the other sign. A single product carries its own last bit instead."""
    rows = len(lead)
    sign = draws.integers(0, 2, rows)
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    leads = np.where(place == 0, half[:, None], (half - 1 - distance)[:, None])
    flips = (place == 1) & (beside == 2)[:, None]
    present = (place == 0) | ((place == 1) & (beside > 0)[:, None])
    frac_a = np.where(beside > 0, 1, 0)[:, None] if shape.K == 1 else 0
    products = shuffled(draws, Products(leads, sign[:, None] ^ flips, present, frac_a))
    return operands_of(shape, draws, products, number(shape.c, sign, lead, frac))


def _short_fractions(shape: OperandShape, draws: GeneratorDraws, rows: int) -> Any:
    """Fractions of c that the result's format holds too."""
    surplus = max(0, shape.c.man_bits - shape.d.man_bits)
    return fractions(draws, shape.c, (rows,)) >> surplus << surplus


def _places(shape: OperandShape, operands: Operands) -> list[tuple[BitArray, Format]]:
    places = [(operands.a, shape.a), (operands.b, shape.b), (operands.c, shape.c)]
    if shape.scale is not None and operands.scale_a is not None and operands.scale_b is not None:
        places += [(operands.scale_a, shape.scale), (operands.scale_b, shape.scale)]
    return places


def _either(first: np.ndarray, yes: Operands, no: Operands) -> Operands:
    """Row by row the one or the other."""

    def chosen(x: BitArray | None, y: BitArray | None) -> BitArray | None:
        return None if x is None or y is None else np.where(first.reshape((-1,) + (1,) * (x.ndim - 1)), x, y)

    return Operands(*map(chosen, yes, no))  # type: ignore[arg-type]


CORNERS: dict[str, Corner] = {
    "ties": Corner(_gap_sweep(3), ties),
    "overflow": Corner(lambda shape: 60, overflow),
    "cancellation": Corner(_gap_sweep(4), cancellation),
    "e_zero-floor": Corner(_gap_sweep(4), e_zero_floor),
    "subnormal-results": Corner(lambda shape: 3 * (shape.d.man_bits + 2), subnormal_results),
    "alignment-edge": Corner(_gap_sweep(6), alignment_edge),
    "special-operands": Corner(_special_operand_cases, special_operands),
    "special-pairs": Corner(lambda shape: len(landmarks(shape.a)) * len(landmarks(shape.b)), special_pairs),
    "c-sweep": Corner(lambda shape: len(_c_values(shape.c)), c_sweep),
    "discrepancy": Corner(_discrepancy_cases, discrepancy),
}
"""Name to corner, in the order in which rows are labelled, after the six classes."""
