"""Products at chosen exponents: operands, and scales if any, whose products have the requested exponents."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.codes import BoolArray, Draws, GeneratorDraws, IntArray, fractions, lowest_lead, number, signs, zeros
from golden.stimulus.shape import Operands, OperandShape, Tile


@dataclass
class Products:
    """The products that a batch of rows should have, [rows, K] each.

    Attributes:
        lead: exponent of the product's leading bit for fractions of zero (exponent value), scales included.
        sign: 0 or 1.
        present: False for a zero product.
        frac_a, frac_b: fractions of the factors (see `number`).
        subnormal_factors: "any"; "exact": only if the fraction loses no bits, as far as the exponent allows; "avoided":
            none, as far as the exponent allows; "wanted": often one factor, if it loses no bits.
    """

    lead: IntArray
    sign: IntArray
    present: BoolArray | bool = True
    frac_a: IntArray | int = 0
    frac_b: IntArray | int = 0
    subnormal_factors: Literal["any", "exact", "avoided", "wanted"] = "exact"


def lead_range(shape: OperandShape) -> tuple[int, int]:
    """Exponents of the leading bits of the smallest and of the largest power-of-two product."""
    low = lowest_lead(shape.a) + lowest_lead(shape.b)
    high = shape.a.e_max + shape.b.e_max
    if shape.scale is not None:
        low, high = low + 2 * lowest_lead(shape.scale), high + 2 * shape.scale.e_max
    return low, high


def lowest_normal_product(shape: OperandShape) -> int:
    """Exponent of the leading bit of the smallest power-of-two product of factors that are not subnormal."""
    lowest_scales = 0 if shape.scale is None else 2 * lowest_lead(shape.scale)
    return shape.a.e_min + shape.b.e_min + lowest_scales


def operands_of(shape: OperandShape, draws: Draws, products: Products, c: Any) -> Operands:
    """Operands with these products, as near as the formats allow, and these accumulators.

    Args:
        c: [rows], or for tiles [tiles, m, n]: then a is [tiles, m, K] and b [tiles, n, K], and every element of a tile is a
            dot product with these exponents.
    """
    tile = c.shape[1:]
    lead, scale_a, scale_b = _scaled_out(shape, draws, products)
    spare: tuple[Any, Any] = (None, None)
    if products.subnormal_factors in ("exact", "wanted"):
        spare = _spare(shape.a, products.frac_a), _spare(shape.b, products.frac_b)
    elif products.subnormal_factors == "avoided":
        spare = (0, 0)
    lead_a, lead_b = _split(draws, lead, shape.a, shape.b, *spare)
    if products.subnormal_factors == "wanted":
        lead_a = _subnormal(draws, lead, shape.a, shape.b, spare[0], lead_a)
        lead_b = _subnormal(draws, lead, shape.b, shape.a, spare[1], lead - lead_a)
        lead_a = lead - lead_b
    sign_a = draws.integers(0, 2, lead.shape)
    sign_b = sign_a ^ products.sign
    absent = np.logical_not(np.asarray(products.present))
    zero_in_a = draws.integers(0, 2, lead.shape) == 1
    zero_a, zero_b, sign = absent & zero_in_a, absent & ~zero_in_a, products.sign
    if tile:
        lead_a, lead_b, zero_a, zero_b, sign = (x[:, None, :] for x in (lead_a, lead_b, zero_a, zero_b, sign))
        mixed = (sign != sign[..., :1]).any(axis=2)[..., None]
        sign_a = sign_a[:, None, :] ^ _flips(draws, mixed, (len(lead), tile[0], shape.K))
        sign_b = sign_b[:, None, :] ^ _flips(draws, mixed, (len(lead), tile[1], shape.K))
        scale_a, scale_b = _repeated(scale_a, tile[0]), _repeated(scale_b, tile[1])
    a = number(shape.a, sign_a, lead_a, products.frac_a)
    b = number(shape.b, sign_b, lead_b, products.frac_b)
    a = np.where(zero_a, zeros(shape.a, sign_a), a)
    b = np.where(zero_b, zeros(shape.b, sign), b)
    return Operands(a, b, c, scale_a, scale_b)


def _flips(draws: Draws, mixed: Any, size: tuple[int, int, int]) -> Any:
    """Signs of a tile's rows: one for each product if signs are mixed, else one per row."""
    flips = draws.integers(0, 2, size)
    return np.where(mixed, flips, flips[:, :, :1])


def _repeated(scales: Any, rows: int) -> Any:
    """A tile's scales, the same in all its rows."""
    return None if scales is None else np.repeat(scales[:, None, :], rows, axis=1)


def _scaled_out(shape: OperandShape, draws: Draws, products: Products) -> tuple[Any, Any, Any]:
    """The products without scales, for scales that bring each block's largest product into range."""
    if shape.scale is None or shape.block_size is None:
        return products.lead, None, None
    rows = len(products.lead)
    lowest = np.iinfo(np.int64).min // 2
    padded = np.full((rows, shape.blocks * shape.block_size), lowest)
    padded[:, : shape.K] = np.where(np.asarray(products.present), products.lead, lowest)
    largest = padded.reshape(rows, shape.blocks, shape.block_size).max(axis=2)
    largest = np.where(largest == lowest, 0, largest)
    reach = shape.a.e_max + shape.b.e_max
    below_reach = draws.integers(0, 1 + shape.a.man_bits + shape.b.man_bits, largest.shape)
    total = np.clip(largest - reach + below_reach, 2 * lowest_lead(shape.scale), 2 * shape.scale.e_max)
    lead_a, lead_b = _split(draws, total, shape.scale, shape.scale)
    sign = draws.integers(0, 2, total.shape) if shape.scale.signed else np.zeros_like(total)
    scales = (number(shape.scale, sign, lead_a), number(shape.scale, sign, lead_b))
    return products.lead - np.repeat(total, shape.block_size, axis=1)[:, : shape.K], *scales


def _spare(operand: Format, frac: Any) -> Any:
    """Distance below e_min to which a number with this fraction loses no bits (exponent value)."""
    frac = np.asarray(frac)
    last_bit = np.log2(np.maximum(frac & -frac, 1)).astype(np.int64)
    return np.where(frac == 0, operand.man_bits, last_bit)


def _split(draws: Draws, lead: Any, x: Format, y: Format, spare_x: Any = None, spare_y: Any = None) -> tuple[Any, Any]:
    """Exponents of two factors that add up to `lead`, every feasible pair equally likely.

    Args:
        spare_x, spare_y: largest distance of the factors below e_min, if `lead` allows it; None for no limit.
    """
    lead = np.clip(lead, lowest_lead(x) + lowest_lead(y), x.e_max + y.e_max)
    low_x: Any = lowest_lead(x)
    low_y: Any = lowest_lead(y)
    if spare_x is not None and spare_y is not None:
        nothing_lost = lead >= x.e_min - spare_x + y.e_min - spare_y
        low_x = np.where(nothing_lost, x.e_min - spare_x, low_x)
        low_y = np.where(nothing_lost, y.e_min - spare_y, low_y)
    lead_x = draws.integers(np.maximum(low_x, lead - y.e_max), np.minimum(x.e_max, lead - low_y), endpoint=True)
    return lead_x, lead - lead_x


def _subnormal(draws: Draws, lead: Any, x: Format, y: Format, spare: Any, otherwise: Any) -> Any:
    """Exponents of a factor x: subnormal in a quarter of the places where x loses no bits and y is normal."""
    lead_x = x.e_min - draws.integers(1, np.maximum(np.broadcast_to(spare, lead.shape), 1), endpoint=True)
    possible = (spare > 0) & (lead - lead_x >= y.e_min) & (lead - lead_x <= y.e_max)
    return np.where(possible & (draws.integers(0, 4, lead.shape) == 0), lead_x, otherwise)


def window(shape: OperandShape, draws: Draws, top: Any, spread: Any, tile: Tile = ()) -> Products:
    """K products with exponents from top − spread to top, drawn row by row, with random fractions and signs.

    Args:
        tile: (m, n) where axis 0 counts tiles: the fractions are then [tiles, m, K] and [tiles, n, K].
    """
    size = (len(top), shape.K)
    lead = top[:, None] - draws.integers(0, np.broadcast_to(spread[:, None], size), endpoint=True)
    frac_a = fractions(draws, shape.a, (len(top), *tile[:1], shape.K))
    frac_b = fractions(draws, shape.b, (len(top), *tile[1:], shape.K))
    return Products(lead, signs(draws, size), frac_a=frac_a, frac_b=frac_b, subnormal_factors="any")


def staircase(shape: OperandShape, draws: GeneratorDraws, top: IntArray, bottom: IntArray, sign: IntArray) -> Products:
    """Products whose exact sum is ±2^top although their bits reach down to 2^bottom: 2^top − 2^x, 2^x − 2^y … 2^bottom, in
    neighbouring places from a random one on. Every bit that an alignment drops changes the sum. With too few products the
    last step is larger."""
    rows, width = len(top), shape.a.man_bits + 1
    depth = np.clip(top - bottom, 0, (shape.K - 1) * width)[:, None]
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    bits = np.clip(depth - place * width, 0, width)
    lead = top[:, None] - np.minimum(place * width, depth) - (bits > 0)
    ones = (1 << width) - (1 << (width - bits))
    frac_a = np.where(bits > 0, ones - (1 << shape.a.man_bits), 0)
    present = ((bits > 0) | (place == -(-depth // width))) & (lead >= lead_range(shape)[0])
    start = draws.integers(0, shape.K, (rows, 1))
    return rearranged(Products(lead, np.broadcast_to(sign[:, None], lead.shape), present, frac_a), (place + start) % shape.K)


def shuffled(draws: GeneratorDraws, products: Products) -> Products:
    """The given products in random places, shuffled row by row."""
    rows, K = products.lead.shape
    return rearranged(products, draws.permuted(np.broadcast_to(np.arange(K), (rows, K)).copy()))


def moved(shape: OperandShape, draws: GeneratorDraws, products: Products) -> Products:
    """The given products in other places. In half of the rows neighbours stay neighbours; with scales they always do, so
    that products of one block stay in one block."""
    rows, K = products.lead.shape
    block = K if shape.block_size is None or K % shape.block_size else shape.block_size
    place, start = np.arange(K), draws.integers(0, K, (rows, 1))
    order = (place // block + start // block) % (K // block) * block + (place + start) % block
    if block == K:
        anywhere = draws.permuted(np.broadcast_to(place, (rows, K)).copy())
        order = np.where(draws.integers(0, 2, (rows, 1)) == 0, order, anywhere)
    return rearranged(products, order)


def rearranged(products: Products, order: IntArray) -> Products:
    """Permute the products: the new product k is the old product order[k]."""

    def moved(column: Any) -> Any:
        return np.take_along_axis(np.broadcast_to(column, order.shape), order, axis=1)

    return Products(
        moved(products.lead), moved(products.sign), moved(products.present), moved(products.frac_a),
        moved(products.frac_b), products.subnormal_factors,
    )  # fmt: skip
