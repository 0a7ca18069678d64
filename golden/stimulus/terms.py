"""Products at chosen exponents: operands, and scales where there are any, whose products lie where they are wanted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.formats import Format
from golden.stimulus.codes import BoolArray, IntArray, fractions, lowest_lead, number, signs, zeros
from golden.stimulus.shape import Operands, OperandShape


@dataclass
class Products:
    """The products that a batch of rows should have, [rows, K] each.

    Attributes:
        lead: exponent of the product's leading bit where both fractions are zero (exponent value), scales included.
        sign: 0 or 1.
        present: False for a zero product.
        frac_a, frac_b: fractions of the factors (see `number`).
        normal_factors: whether factors stay normal wherever the exponent allows, so that no fraction bit is lost.
    """

    lead: IntArray
    sign: IntArray
    present: BoolArray | bool = True
    frac_a: IntArray | int = 0
    frac_b: IntArray | int = 0
    normal_factors: bool = True


def lead_range(shape: OperandShape) -> tuple[int, int]:
    """Exponents of the leading bits of the smallest and of the largest power-of-two product."""
    low = lowest_lead(shape.a) + lowest_lead(shape.b)
    high = shape.a.e_max + shape.b.e_max
    if shape.scale is not None:
        low, high = low + 2 * lowest_lead(shape.scale), high + 2 * shape.scale.e_max
    return low, high


def operands_of(shape: OperandShape, rng: np.random.Generator, products: Products, c: BitArray) -> Operands:
    """Operands with these products, as near as the formats allow, and these accumulators."""
    lead, scale_a, scale_b = _scaled_out(shape, rng, products)
    lead_a, lead_b = _split(rng, lead, shape.a, shape.b, products.normal_factors)
    sign_a = rng.integers(0, 2, lead.shape)
    a = number(shape.a, sign_a, lead_a, products.frac_a)
    b = number(shape.b, sign_a ^ products.sign, lead_b, products.frac_b)
    zero_in_a = rng.integers(0, 2, lead.shape).astype(bool)
    absent = np.logical_not(products.present)
    a = np.where(absent & zero_in_a, zeros(shape.a, sign_a), a)
    b = np.where(absent & ~zero_in_a, zeros(shape.b, products.sign), b)
    return Operands(a, b, c, scale_a, scale_b)


def _scaled_out(
    shape: OperandShape, rng: np.random.Generator, products: Products
) -> tuple[IntArray, BitArray | None, BitArray | None]:
    """What the elements' own products must be under scales that bring each block's largest product into reach."""
    if shape.scale is None or shape.block_size is None:
        return products.lead, None, None
    rows = len(products.lead)
    lowest = np.iinfo(np.int64).min // 2
    padded = np.full((rows, shape.blocks * shape.block_size), lowest)
    padded[:, : shape.K] = np.where(products.present, products.lead, lowest)
    largest = padded.reshape(rows, shape.blocks, shape.block_size).max(axis=2)
    largest = np.where(largest == lowest, 0, largest)
    reach = shape.a.e_max + shape.b.e_max
    below_reach = rng.integers(0, 1 + shape.a.man_bits + shape.b.man_bits, largest.shape)
    total = np.clip(largest - reach + below_reach, 2 * lowest_lead(shape.scale), 2 * shape.scale.e_max)
    lead_a, lead_b = _split(rng, total, shape.scale, shape.scale, normal=False)
    plus = np.zeros_like(total)
    scales = (number(shape.scale, plus, lead_a), number(shape.scale, plus, lead_b))
    return products.lead - np.repeat(total, shape.block_size, axis=1)[:, : shape.K], *scales


def _split(rng: np.random.Generator, lead: IntArray, x: Format, y: Format, normal: bool) -> tuple[IntArray, IntArray]:
    """Exponents of two factors that add up to `lead`, every feasible pair equally likely."""
    lead = np.clip(lead, lowest_lead(x) + lowest_lead(y), x.e_max + y.e_max)
    stays_normal = (lead >= x.e_min + y.e_min) & normal
    low_x = np.where(stays_normal, x.e_min, lowest_lead(x))
    low_y = np.where(stays_normal, y.e_min, lowest_lead(y))
    lead_x = rng.integers(np.maximum(low_x, lead - y.e_max), np.minimum(x.e_max, lead - low_y), endpoint=True)
    return lead_x, lead - lead_x


def window(shape: OperandShape, rng: np.random.Generator, top: npt.NDArray[Any], spread: npt.NDArray[Any]) -> Products:
    """K products with exponents from top − spread to top, drawn row by row, with random fractions and signs."""
    size = (len(top), shape.K)
    lead = top[:, None] - rng.integers(0, np.broadcast_to(spread[:, None], size), endpoint=True)
    frac_a, frac_b = fractions(rng, shape.a, size), fractions(rng, shape.b, size)
    return Products(lead, signs(rng, size), frac_a=frac_a, frac_b=frac_b, normal_factors=False)


def staircase(shape: OperandShape, rng: np.random.Generator, top: IntArray, bottom: IntArray, sign: IntArray) -> Products:
    """Products whose exact sum is ±2^top although their bits reach down to 2^bottom: 2^top − 2^x, 2^x − 2^y … 2^bottom, in
    neighbouring places from a random one on. Whatever an alignment cuts off is missing from the sum. With too few products
    the last step is higher."""
    rows, width = len(top), shape.a.man_bits + 1
    depth = np.clip(top - bottom, 0, (shape.K - 1) * width)[:, None]
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    bits = np.clip(depth - place * width, 0, width)
    lead = top[:, None] - np.minimum(place * width, depth) - (bits > 0)
    ones = (1 << width) - (1 << (width - bits))
    frac_a = np.where(bits > 0, ones - (1 << shape.a.man_bits), 0)
    present = ((bits > 0) | (place == -(-depth // width))) & (lead >= lead_range(shape)[0])
    start = rng.integers(0, shape.K, (rows, 1))
    return _moved(Products(lead, np.broadcast_to(sign[:, None], lead.shape), present, frac_a), (place + start) % shape.K)


def shuffled(rng: np.random.Generator, products: Products) -> Products:
    """The same products in random places, row by row."""
    rows, K = products.lead.shape
    return _moved(products, rng.permuted(np.broadcast_to(np.arange(K), (rows, K)).copy(), axis=1))


def _moved(products: Products, order: IntArray) -> Products:
    """Product k is what was product order[k]."""

    def moved(column: Any) -> Any:
        return np.take_along_axis(np.broadcast_to(column, order.shape), order, axis=1)

    return Products(
        moved(products.lead), moved(products.sign), moved(products.present), moved(products.frac_a),
        moved(products.frac_b), products.normal_factors,
    )  # fmt: skip
