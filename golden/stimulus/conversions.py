"""Operands of a conversion, which has a alone: numbers on and beside the results that a format has, half-way between two of
them, and at the ends of its range."""

from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import bits_dtype
from golden.stimulus.codes import Draws, IntArray, landmarks, lowest_lead, number, pick, uniform_codes
from golden.stimulus.shape import Operands, OperandShape

QUARTERS = 9
"""Distances of a number from a result: from one unit in the last place below to one above, in quarters."""

NUDGES = 3
"""A number of a beside that one: the next smaller one, itself, the next larger one."""

REGIONS = ANYWHERE, LARGEST, SMALLEST, ONES = range(4)
"""Results anywhere; near the largest; about the smallest normal one and below; with a run of ones at the end of the
significand."""

_WIDEST = 58
"""Fraction bits of a result of which a machine integer holds all quarters."""


def beside(shape: OperandShape, draws: Draws, case: IntArray, region: Any) -> Operands:
    """Numbers a few quarters of a unit beside a result of the format d, or the number of a next to them.

    Args:
        case: of each row which distance, and which number beside it; the quotient is a place within the region.
    """
    a, d, rows = shape.a, shape.d, len(case)
    man_bits = min(d.man_bits, _WIDEST)
    quarter, nudge, place = case % QUARTERS - QUARTERS // 2, case // QUARTERS % NUDGES - 1, case // (QUARTERS * NUDGES)
    # 1. the result: its leading one, as far as a reaches, and its significand
    low, high = max(lowest_lead(d) - 2, lowest_lead(a)), min(d.e_max + 1, a.e_max)
    if low > high:
        low, high = lowest_lead(a), a.e_max
    lead = draws.integers(low, high, rows, endpoint=True)
    lead = np.select(
        [region == LARGEST, region == SMALLEST], [d.e_max + 0 * lead, d.e_min + 1 - place % (man_bits + 4)], lead
    )
    hidden, sign = np.int64(1) << man_bits, draws.integers(0, 2, rows)
    sig = hidden | draws.integers(0, hidden, rows)
    ones = (np.int64(1) << (place % (man_bits + 1))) - 1
    top = d.max_finite >> d.pad_bits & (1 << d.man_bits) - 1
    largest = np.maximum(hidden | (top >> d.man_bits - man_bits) - place % 3, hidden)
    sig = np.select([region == LARGEST, region == ONES], [largest, sig | ones], sig)
    # 2. below the normal numbers the last place stays where it is, or where tiny results become zeros it does not
    stays = (lead < d.e_min) & (draws.integers(0, 2, rows) == 0) & d.subnormals
    last = np.where(stays, d.e_min, lead) - man_bits
    sig = np.where(stays, sig >> np.minimum(d.e_min - lead, 62), sig)
    # 3. the number, as a has it, and the one beside it
    value = np.maximum(4 * sig + quarter, 1)
    length = np.floor(np.log2(value.astype(np.longdouble))).astype(np.int64)
    shift = a.man_bits - length
    frac = np.where(shift < 0, value >> np.maximum(-shift, 0), value << np.maximum(shift, 0)) & (1 << a.man_bits) - 1
    code = number(a, 0 * sign, last - 2 + length, frac).astype(np.uint64) >> np.uint64(a.pad_bits)
    field = np.clip(code.astype(np.int64) + nudge, 0, a.max_finite >> a.pad_bits).astype(np.uint64)
    signs = sign.astype(np.uint64) * np.uint64(a.sign_bit)
    return alone(shape, (field << np.uint64(a.pad_bits) | signs).astype(bits_dtype(a)))


def alone(shape: OperandShape, a: Any) -> Operands:
    """Operands whose b and c, which are not read, are +0."""
    b, c = np.zeros((len(a), 1), bits_dtype(shape.b)), np.zeros(len(a), bits_dtype(shape.c))
    return Operands(a.reshape(-1, 1), b, c)


def of_class(name: str, shape: OperandShape, draws: Draws, rows: int) -> Operands:
    """Random rows of a class: any codes, landmarks of a, or numbers beside results."""
    if name == "bits":
        return alone(shape, uniform_codes(draws, shape.a, (rows,)))
    if name == "specials":
        return alone(shape, pick(draws, landmarks(shape.a), shape.a, (rows,)))
    region = {"tiny": SMALLEST, "huge": LARGEST}.get(name, ANYWHERE)
    return beside(shape, draws, draws.integers(0, QUARTERS * NUDGES * places(shape.d), rows), region)


def places(d: Format) -> int:
    """Places about the smallest normal result, more than there are in other regions."""
    return min(d.man_bits, _WIDEST) + 4
