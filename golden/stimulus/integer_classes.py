"""The six classes for integer operands (int8, uint16, int32 …), under the same names as for floats."""

from collections.abc import Callable
from typing import Any

import numpy as np

from golden.arithmetic.formats import IntegerFormat
from golden.stimulus.codes import Draws, landmarks, pick, uniform_codes
from golden.stimulus.shape import Operands, OperandShape, Tile


def is_integer(shape: OperandShape) -> bool:
    """Whether the operands are integers."""
    return isinstance(shape.a, IntegerFormat)


def codes(operand: Any, values: Any) -> Any:
    """Codes of integers, clipped to the format's range."""
    inside = np.clip(values, operand.lowest, operand.max_finite)
    return (inside % operand.codes).astype(f"uint{operand.storage_bits}")


def numbers(operand: Any, array: Any) -> Any:
    """The integer values of codes, int64."""
    values = array.astype(np.int64)
    return values - operand.codes * (values > operand.max_finite) if operand.signed else values


def _within(operand: Any, draws: Draws, size: tuple[int, ...], magnitude: Any) -> Any:
    """Random integers of at most that magnitude, one per row or tile; of twice that magnitude in unsigned formats."""
    high = magnitude.reshape((-1,) + (1,) * (len(size) - 1)) + np.zeros(size, np.int64)
    low, high = (-high, high) if operand.signed else (0 * high, 2 * high)
    return codes(operand, draws.integers(low, high, endpoint=True))


def _leads(rows: int, tile: Tile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The leading axes of a and of b: [rows], or in tiles [tiles, m] and [tiles, n]."""
    return (rows, *tile[:1]), (rows, *tile[1:])


def bits(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Every bit pattern equally likely, in every operand."""
    of_a, of_b = _leads(rows, tile)
    a, b = uniform_codes(draws, shape.a, (*of_a, shape.K)), uniform_codes(draws, shape.b, (*of_b, shape.K))
    return Operands(a, b, uniform_codes(draws, shape.c, (rows, *tile)), None, None)


def normal(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Elements of up to any number of bits, the same for a row; c of up to any number of bits."""
    return _of_magnitudes(
        shape,
        draws,
        tile,
        *(_power(draws, rows, high) for high in (max(8, shape.a.width), max(8, shape.b.width), shape.c.width)),
    )


def tiny(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Elements and c of magnitude 2 at most."""
    return _of_magnitudes(shape, draws, tile, *(draws.integers(0, 3, rows) for _ in range(3)))


def _power(draws: Draws, rows: int, high: int) -> Any:
    """A power of two for each row, 1 to 2^(high − 1)."""
    return np.asarray(1) << draws.integers(0, high, rows)


def _of_magnitudes(shape: OperandShape, draws: Draws, tile: Tile, of_a: Any, of_b: Any, of_c: Any) -> Operands:
    lead_a, lead_b = _leads(len(of_a), tile)
    a = _within(shape.a, draws, (*lead_a, shape.K), of_a)
    b = _within(shape.b, draws, (*lead_b, shape.K), of_b)
    return Operands(a, b, _within(shape.c, draws, (len(of_a), *tile), of_c), None, None)


def cancel(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """c cancels the sum of the products, exactly or nearly; in a tile the sum of row 0 and column 0."""
    start = normal(shape, draws, rows, tile)
    taken = -product_sums(shape, start, tile) + draws.integers(-1, 2, rows)
    each = np.broadcast_to(taken.reshape((-1,) + (1,) * len(tile)), start.c.shape)
    return start._replace(c=codes(shape.c, each))


def product_sums(shape: OperandShape, operands: Operands, tile: Tile = ()) -> Any:
    """Σ a·b of each row, of a tile's first row and column."""
    a, b = operands.a[:, 0] if tile else operands.a, operands.b[:, 0] if tile else operands.b
    return (numbers(shape.a, a) * numbers(shape.b, b)).sum(axis=-1)


def specials(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """`normal` with some operands replaced by landmarks, from about one in a row to a third of them."""
    start = normal(shape, draws, rows, tile)
    odds = draws.choice([0.5 / shape.K, 2 / shape.K, 1 / 3], rows)

    def replaced(array: Any, operand: Any) -> Any:
        here = draws.random(array.shape) < odds.reshape((-1,) + (1,) * (array.ndim - 1))
        return np.where(here, pick(draws, landmarks(operand), operand, array.shape), array)

    return Operands(replaced(start.a, shape.a), replaced(start.b, shape.b), replaced(start.c, shape.c), None, None)


def huge(shape: OperandShape, draws: Draws, rows: int, tile: Tile = ()) -> Operands:
    """Elements near their largest and smallest, of one sign in half of the rows; c near an end of its range."""
    lead_a, lead_b = _leads(rows, tile)
    mixed = draws.integers(0, 2, rows)

    def ends(operand: Any, size: tuple[int, ...]) -> Any:
        chosen = draws.integers(0, 2, size) * mixed.reshape((-1,) + (1,) * (len(size) - 1))
        near = draws.integers(0, 4, size)
        return codes(operand, np.where(chosen == 1, operand.lowest + near, operand.max_finite - near))

    a, b = ends(shape.a, (*lead_a, shape.K)), ends(shape.b, (*lead_b, shape.K))
    below = draws.integers(0, 1 << max(1, shape.c.width - 12), (rows, *tile))
    at_top = draws.integers(0, 2, (rows, *tile)) == 1
    c_format: Any = shape.c
    c = codes(c_format, np.where(at_top, c_format.max_finite - below, c_format.lowest + below))
    return Operands(a, b, c, None, None)


CLASSES: dict[str, Callable[[OperandShape, Draws, int, Tile], Operands]] = {
    "bits": bits,
    "normal": normal,
    "cancel": cancel,
    "specials": specials,
    "tiny": tiny,
    "huge": huge,
}
