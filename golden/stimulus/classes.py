"""The six classes of random inputs: bits, normal, cancel, specials, tiny, huge.

Each generates rows, or tiles of m·n dot products that share m rows of A and n columns of B. In a tile the products'
exponents are drawn once, and fractions and signs for each row and column, so that every element of D belongs to the class.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus import conversions, integer_classes
from golden.stimulus.codes import (
    Draws,
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
from golden.stimulus.placed_products import lead_range, operands_of, window
from golden.stimulus.shape import Operands, OperandShape, Tile

SPREADS = (0, 1, 3, 7, 15, 31)
"""Spread of the exponents of a row's products (exponent value): narrow, so that many aligned terms overlap."""

MODERATE = 24
"""`normal` products have exponents from −24 to 24, if the formats reach that far (exponent value)."""


def bits(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Every bit pattern equally likely, in every operand."""
    of_a, of_b = (rows, *tile[:1]), (rows, *tile[1:])
    scales = [
        None if shape.scale is None else uniform_codes(draws, shape.scale, (*lead, shape.blocks)) for lead in (of_a, of_b)
    ]  # fmt: skip
    a, b = uniform_codes(draws, shape.a, (*of_a, shape.K)), uniform_codes(draws, shape.b, (*of_b, shape.K))
    return Operands(a, b, uniform_codes(draws, shape.c, (rows, *tile)), scales[0], scales[1])


def normal(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Products of moderate exponents within a narrow window, c near them."""
    top = _moderate(shape, draws, rows)
    products = window(shape, draws, top, _spread(draws, rows), tile)
    return operands_of(shape, draws, products, _addend(shape.c, draws, top, tile))


def cancel(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Products in pairs of opposite sign, equal or one bit apart; c cancels the last product, exactly or nearly."""
    operands = normal(shape, draws, rows, tile)
    a, b = operands.a.copy(), operands.b.copy()
    # Scales belong to places, so with scales the pairs stay neighbours; without scales they can be anywhere.
    order = np.arange(shape.K) if shape.scale is not None else draws.permutation(shape.K)
    first, second = order[0 : shape.K - 1 : 2], order[1::2]
    a[..., second] = a[..., first] ^ a.dtype.type(sign_bit(shape.a))
    b[..., second] = b[..., first]
    apart = _beside(draws.integers(0, 4, rows) == 0, a)
    last_bit = a.dtype.type(1 << shape.a.pad_bits)
    one_of_many = draws.integers(0, shape.K, a.shape) == 0
    a = np.where(apart & one_of_many & _changeable(shape.a, a), a ^ last_bit, a)
    return Operands(a, b, operands.c, operands.scale_a, operands.scale_b)


def specials(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """`normal` with some operands replaced by landmarks: any landmark in a third of the rows, no NaN in a third, finite
    ones in a third. From about one operand in a row to a third of them are replaced."""
    start = normal(shape, draws, rows, tile)
    menu = draws.integers(0, 3, rows)
    odds = draws.choice([0.5 / shape.K, 2 / shape.K, 1 / 3], rows)

    def replaced(codes: Any, operand: Format) -> Any:
        finite = finite_landmarks(operand)
        lists = (landmarks(operand), finite + infinities(operand), finite)
        any_code, no_nan, finite_code = (pick(draws, options, operand, codes.shape) for options in lists)
        chosen = _beside(menu, codes)
        drawn = np.where(chosen == 0, any_code, np.where(chosen == 1, no_nan, finite_code))
        return np.where(draws.random(codes.shape) < _beside(odds, codes), drawn, codes)

    return Operands(
        replaced(start.a, shape.a),
        replaced(start.b, shape.b),
        replaced(start.c, shape.c),
        *(None if scales is None or shape.scale is None else replaced(scales, shape.scale) for scales in start[3:]),
    )


def tiny(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Products near the smallest possible product or the smallest result; c is zero, subnormal or near them."""
    low, high = lead_range(shape)
    at_inputs = low + draws.integers(0, 24, rows)
    at_result = lowest_lead(shape.d) + draws.integers(-12, 24, rows)
    top = np.clip(np.where(draws.integers(0, 2, rows) == 0, at_inputs, at_result), low, high)
    of_c = (rows, *tile)
    kind = draws.integers(0, 3, of_c)
    sign = draws.integers(0, 2, of_c)
    subnormal_lead = shape.c.e_min - draws.integers(1, shape.c.man_bits, of_c, endpoint=True)
    subnormal = number(shape.c, sign, subnormal_lead)
    near = _addend(shape.c, draws, top, tile)
    c = np.where(kind == 0, zeros(shape.c, sign), np.where(kind == 1, subnormal, near))
    return operands_of(shape, draws, window(shape, draws, top, _spread(draws, rows), tile), c)


def huge(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Products near the largest possible product, or whose sum is near the largest result; c is near them or near
    its largest value."""
    low, high = lead_range(shape)
    at_inputs = high - draws.integers(0, 4, rows)
    at_result = shape.d.e_max - draws.integers(-1, 8, rows)
    top = np.clip(np.where(draws.integers(0, 2, rows) == 0, at_inputs, at_result), low, high)
    of_c = (rows, *tile)
    sign, below = draws.integers(0, 2, of_c), draws.integers(0, 2, of_c)
    at_its_largest = number(shape.c, sign, shape.c.e_max - below, fractions(draws, shape.c, of_c))
    c = np.where(draws.integers(0, 2, of_c) == 0, at_its_largest, _addend(shape.c, draws, top, tile))
    return operands_of(shape, draws, window(shape, draws, top, _spread(draws, rows), tile), c)


def _moderate(shape: OperandShape, draws: Draws, rows: int) -> Any:
    """Exponents of the largest products, moderate if the formats allow it."""
    low, high = lead_range(shape)
    return draws.integers(max(low, min(-MODERATE, high)), min(high, max(MODERATE, low)), rows, endpoint=True)


def _spread(draws: Draws, rows: int) -> Any:
    return draws.choice(SPREADS, rows)


def _addend(c: Format, draws: Draws, top: Any, tile: Tile) -> Any:
    """Accumulators from far below to a little above 2^top; one in eight a zero, one in eight of any exponent."""
    size = (len(top), *tile)
    kind, sign = draws.integers(0, 8, size), draws.integers(0, 2, size)
    near = top.reshape(-1, *(1 for _ in tile)) + draws.integers(-28, 8, size)
    anywhere = draws.integers(lowest_lead(c), c.e_max, size, endpoint=True)
    finite = number(c, sign, np.where(kind == 1, anywhere, near), fractions(draws, c, size))
    return np.where(kind == 0, zeros(c, sign), finite)


def _beside(rows: Any, codes: Any) -> Any:
    """One value per row (or tile), shaped to broadcast against its codes."""
    return rows.reshape((-1,) + (1,) * (codes.ndim - 1))


def _changeable(operand: Format, codes: Any) -> Any:
    """Whether flipping the last fraction bit gives a finite number other than zero."""
    magnitude = codes & codes.dtype.type(operand.magnitude_mask)
    last_bit = 1 << operand.pad_bits
    return (magnitude > last_bit) & (magnitude < operand.max_finite & ~last_bit)


Generator = Callable[[OperandShape, Draws, int, Tile], Operands]


def moderate(shape: OperandShape, draws: Draws, rows: int) -> Operands:
    """Moderate operands, into which a corner puts its special ones."""
    return CLASSES["normal"](shape, draws, rows, ())


def _of_any_format(name: str, of_floats: Generator, of_integers: Generator) -> Generator:
    """The generator of one class for all formats, and for conversions."""

    def generator(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
        if not shape.has_b:
            return conversions.of_class(name, shape, draws, rows)
        return (of_integers if integer_classes.is_integer(shape) else of_floats)(shape, draws, rows, tile)

    return generator


_OF_FLOATS: dict[str, Generator] = {
    "bits": bits,
    "normal": normal,
    "cancel": cancel,
    "specials": specials,
    "tiny": tiny,
    "huge": huge,
}

CLASSES: dict[str, Generator] = {
    name: _of_any_format(name, made, integer_classes.CLASSES[name]) for name, made in _OF_FLOATS.items()
}
"""Name to generator, in the order in which rows are labelled."""
