"""Rows of several steps whose accumulator is a chosen one: the first products add up to the c of a corner, and a later step
has the products that the corner pairs with that c.

A design with an accumulator inside takes no c, so that only products can give it the value that a tie, a cancellation or a
far gap needs. The same goes for a single step without c, whose first products take the place of c.
"""

from dataclasses import replace

import numpy as np

from golden.arrays import BitArray
from golden.stimulus.chosen_sums import Places, bit_length
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray, zeros
from golden.stimulus.corners.corner import Corner
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.placed_products import lead_range, operands_of
from golden.stimulus.shape import Operands, OperandShape

LEAST_PRODUCTS = 4
"""Number of products from which those of a single step without c are divided: half of them take the place of c."""

TRIES = 3
"""Times that a case is drawn, to find a c that the products reach."""


def is_chain(shape: OperandShape) -> bool:
    """Whether the products are those of several steps."""
    return 0 < shape.step < shape.K


def inner_shape(shape: OperandShape) -> OperandShape | None:
    """The shape, with c, of the products that meet a c built from others; None where a row has no room for it, and for
    integers, whose sums have no corners that few products reach."""
    if is_integer(shape) or not shape.has_b or shape.adds:
        return None
    if is_chain(shape):
        length = shape.step
    elif not shape.has_c and shape.K >= LEAST_PRODUCTS:
        length = shape.K - shape.K // 2
    else:
        return None
    if shape.block_size is not None and (length % shape.block_size or shape.K % shape.block_size):
        return None
    return replace(shape, K=length, step=0, has_c=True)


def built(shape: OperandShape, draws: GeneratorDraws, corner: Corner, case: IntArray) -> Operands:
    """The operands of cases of the `inner_shape`, at any step behind the products that add up to their c; the products of
    all other steps are zero. Where a row has c, half of the rows take it from there.

    A c that products do not reach (a special value, or beyond their range) is that of the row, or else as near as they come.
    """
    inner = inner_shape(shape)
    assert inner is not None
    rows, L, room = len(case), inner.K, shape.K - inner.K
    # 1. each case as often as `TRIES`, and the first of them whose c the products reach
    made = corner.make(inner, draws, np.repeat(case, TRIES))
    is_reached, end = _put_c(shape, Places(len(made.c), room), made.c)
    first = np.arange(rows) * TRIES + np.argmax(is_reached.reshape(rows, TRIES), axis=1)
    made, is_reached, count = made.rows(first), is_reached[first], end[first]
    # 2. products that add up to it, one a step where there are as many steps
    of_steps = L if is_chain(shape) else 1
    is_apart = ((count - 1) * of_steps < room) & (draws.integers(0, 2, rows) == 0)
    places = Places(rows, room)
    _, end = _put_c(shape, places, made.c, np.where(is_apart, of_steps, 1))
    by_c = ((draws.integers(0, 2, rows) == 0) | ~is_reached) & shape.has_c
    products = places.products
    products.present = places.products.present & ~by_c[:, None]
    c = np.where(by_c, made.c, zeros(shape.c, draws.integers(0, 2, rows) * shape.has_c))
    before = operands_of(replace(shape, K=room, step=0), draws, products, c)
    # 3. the corner's products behind them; in a single step anywhere
    unit = L if is_chain(shape) else shape.block_size or 1
    least = np.where(is_chain(shape) & ~by_c, -(-end // unit), 0)
    at = draws.integers(least, np.full(rows, room // unit), endpoint=True) * unit
    return _inserted(before, made, at, shape.block_size)


def _put_c(shape: OperandShape, places: Places, codes: BitArray, stride: IntArray | int = 1) -> tuple[BoolArray, IntArray]:
    """Put products that add up to c at every `stride` places from the first on, the largest first: none if c is zero or
    special.

    Each holds as many of the bits that are left as a has, rounded to nearest, so that partial sums are numbers of c's
    format (of the largest ones cut); or the largest power of two that products reach.

    Returns:
        Whether they add up to c exactly; the place behind the last of them.
    """
    c, (low, high), width = shape.c, lead_range(shape), shape.a.man_bits + 1
    field = (codes.astype(np.int64) >> c.pad_bits) & ((1 << c.exp_bits + c.man_bits) - 1)
    exp, is_finite = field >> c.man_bits, field <= c.max_finite >> c.pad_bits
    sig = field & ((1 << c.man_bits) - 1) | np.where(exp > 0, np.int64(1) << c.man_bits, 0)
    rest = np.where(is_finite, sig, 0)
    unit = np.maximum(exp, 1) - c.bias - c.man_bits
    sign = (codes.astype(np.uint64) >> np.uint64(c.width - 1)).astype(np.int64) * c.signed
    rounds = unit + c.man_bits < c.e_max  # a sum beyond c's numbers would be infinite
    lowest = unit + bit_length(rest & -rest) - 1
    end, room = np.zeros(len(rest), np.int64), places.products.lead.shape[1]
    for piece in range(room):
        if not rest.any():
            break
        length = bit_length(rest)
        lost = np.maximum(length - width, 0)
        value = (np.abs(rest) + (rounds.astype(np.int64) << lost >> 1)) >> lost
        is_beyond = unit + lost + bit_length(value) - 1 > high
        lost = np.where(is_beyond, np.maximum(high - unit, 0), lost)
        value = np.where(is_beyond, 1, value)
        is_put = (rest != 0) & (unit + lost <= high) & (piece * stride < room)
        value = np.where(is_put, np.where(rest < 0, -value, value), 0)
        for place in np.unique(np.where(is_put, piece * stride, -1)).tolist():
            if place >= 0:
                places.put_integer(place, is_put & (piece * stride == place), sign, value, unit + lost, shape.a)
        rest = rest - (value << lost)
        end = np.where(is_put, piece * stride + 1, end)
    return is_finite & (rest == 0) & ((sig == 0) | (lowest >= low)), end


def _inserted(before: Operands, made: Operands, at: IntArray, block_size: int | None) -> Operands:
    """The products of `made` among those of `before`, behind the first `at` of each row."""

    def joined(x: np.ndarray | None, y: np.ndarray | None, place: IntArray) -> np.ndarray | None:
        if x is None or y is None:
            return None
        k, of_made = np.arange(x.shape[1] + y.shape[1]), y.shape[1]
        first = place[:, None]
        order = np.where(k < first, k, np.where(k < first + of_made, x.shape[1] + k - first, k - of_made))
        return np.take_along_axis(np.concatenate([x, y], axis=1), order, axis=1)

    a, b = joined(before.a, made.a, at), joined(before.b, made.b, at)
    of_blocks = at // (block_size or 1)
    scales = (joined(x, y, of_blocks) for x, y in ((before.scale_a, made.scale_a), (before.scale_b, made.scale_b)))
    assert a is not None
    assert b is not None
    return Operands(a, b, before.c, *scales)
