"""The six classes of random inputs: bits, normal, cancel, specials, tiny, huge."""

from collections.abc import Callable

import numpy as np

from golden.arrays import BitArray
from golden.formats import Format
from golden.stimulus.codes import (
    finite_landmarks,
    fractions,
    infinities,
    landmarks,
    lowest_lead,
    number,
    pick,
    sign_bit,
    uniform_codes,
    zeros,
)  # fmt: skip
from golden.stimulus.shape import Operands, OperandShape
from golden.stimulus.terms import lead_range, operands_of, window

SPREADS = (0, 1, 3, 7, 15, 31)
"""How far apart the exponents of a row's products lie (exponent value): narrow, so that many terms overlap once aligned."""

MODERATE = 24
"""Exponents of `normal` products lie in −24 … 24 where the formats reach that far."""


def bits(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """Every bit pattern equally likely, in every operand."""
    scales = [
        None if shape.scale is None else uniform_codes(rng, shape.scale, (rows, shape.blocks)) for _ in range(2)
    ]  # fmt: skip
    a, b = uniform_codes(rng, shape.a, (rows, shape.K)), uniform_codes(rng, shape.b, (rows, shape.K))
    return Operands(a, b, uniform_codes(rng, shape.c, (rows,)), scales[0], scales[1])


def normal(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """Products of moderate exponents within a narrow window, c near them."""
    low, high = lead_range(shape)
    top = rng.integers(max(low, min(-MODERATE, high)), min(high, max(MODERATE, low)), rows, endpoint=True)
    return operands_of(shape, rng, window(shape, rng, top, _spread(rng, rows)), _addend(shape.c, rng, top))


def cancel(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """Products in pairs of opposite sign, equal or a bit apart; c of the opposite sign of the last product, or near."""
    low, high = lead_range(shape)
    top = rng.integers(max(low, min(-MODERATE, high)), min(high, max(MODERATE, low)), rows, endpoint=True)
    operands = operands_of(shape, rng, window(shape, rng, top, _spread(rng, rows)), _addend(shape.c, rng, top))
    a, b = operands.a.copy(), operands.b.copy()
    # Scales belong to places, so pairs under scales stay neighbours; without scales they lie anywhere.
    order = np.arange(shape.K) if shape.scale is not None else rng.permutation(shape.K)
    first, second = order[0 : shape.K - 1 : 2], order[1::2]
    a[:, second] = a[:, first] ^ np.array(sign_bit(shape.a), a.dtype)
    b[:, second] = b[:, first]
    apart = rng.integers(0, 4, (rows, 1)) == 0
    last_bit = np.array(1 << shape.a.pad_bits, a.dtype)
    one_of_many = rng.integers(0, shape.K, (rows, shape.K)) == 0
    a = np.where(apart & one_of_many & _changeable(shape.a, a), a ^ last_bit, a)
    return Operands(a, b, operands.c, operands.scale_a, operands.scale_b)


def specials(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """`normal` with some operands replaced by landmarks: any in a third of the rows, no NaN in a third, finite ones in a
    third; from about one in a row to a third of them."""
    start = normal(shape, rng, rows)
    menu = rng.integers(0, 3, (rows, 1))
    odds = rng.choice([0.5 / shape.K, 2 / shape.K, 1 / 3], (rows, 1))

    def replaced(codes: BitArray, operand: Format) -> BitArray:
        finite = finite_landmarks(operand)
        lists = (landmarks(operand), finite + infinities(operand), finite)
        drawn = np.choose(menu, [pick(rng, options, operand, codes.shape) for options in lists])
        return np.where(rng.random(codes.shape) < odds, drawn, codes)

    return Operands(
        replaced(start.a, shape.a),
        replaced(start.b, shape.b),
        replaced(start.c[:, None], shape.c)[:, 0],
        *(None if scales is None or shape.scale is None else replaced(scales, shape.scale) for scales in start[3:]),
    )


def tiny(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """Products near the smallest there are, or near the result's smallest; c zero, subnormal or near them."""
    low, high = lead_range(shape)
    at_inputs = low + rng.integers(0, 24, rows)
    at_result = lowest_lead(shape.d) + rng.integers(-12, 24, rows)
    top = np.clip(np.where(rng.integers(0, 2, rows) == 0, at_inputs, at_result), low, high)
    kind = rng.integers(0, 3, rows)
    sign = rng.integers(0, 2, rows)
    subnormal = number(shape.c, sign, shape.c.e_min - rng.integers(1, shape.c.man_bits, rows, endpoint=True))
    c = np.select([kind == 0, kind == 1], [zeros(shape.c, sign), subnormal], _addend(shape.c, rng, top))
    return operands_of(shape, rng, window(shape, rng, top, _spread(rng, rows)), c)


def huge(shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    """Products near the largest there are, or such that their sum is near the result's largest; c near them or near its
    own largest."""
    low, high = lead_range(shape)
    at_inputs = high - rng.integers(0, 4, rows)
    at_result = shape.d.e_max - rng.integers(-1, 8, rows)
    top = np.clip(np.where(rng.integers(0, 2, rows) == 0, at_inputs, at_result), low, high)
    at_its_largest = number(
        shape.c, rng.integers(0, 2, rows), shape.c.e_max - rng.integers(0, 2, rows), fractions(rng, shape.c, (rows,))
    )
    c = np.where(rng.integers(0, 2, rows) == 0, at_its_largest, _addend(shape.c, rng, top))
    return operands_of(shape, rng, window(shape, rng, top, _spread(rng, rows)), c)


def _spread(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.choice(SPREADS, rows)


def _addend(c: Format, rng: np.random.Generator, top: np.ndarray) -> BitArray:
    """An accumulator from far below to a little above 2^top; one in eight a zero, one in eight of any exponent."""
    rows = len(top)
    kind, sign = rng.integers(0, 8, rows), rng.integers(0, 2, rows)
    near = top + rng.integers(-28, 8, rows)
    anywhere = rng.integers(lowest_lead(c), c.e_max, rows, endpoint=True)
    finite = number(c, sign, np.where(kind == 1, anywhere, near), fractions(rng, c, (rows,)))
    return np.where(kind == 0, zeros(c, sign), finite)


def _changeable(operand: Format, codes: BitArray) -> np.ndarray:
    """Where flipping the last fraction bit leaves a finite number that is not zero."""
    magnitude = codes & np.array(sign_bit(operand) - 1, codes.dtype)
    last_bit = 1 << operand.pad_bits
    return (magnitude > last_bit) & (magnitude < operand.max_finite & ~last_bit)


CLASSES: dict[str, Callable[[OperandShape, np.random.Generator, int], Operands]] = {
    "bits": bits,
    "normal": normal,
    "cancel": cancel,
    "specials": specials,
    "tiny": tiny,
    "huge": huge,
}
"""Name to generator, in the order in which rows are labelled."""
