"""Exact sums with chosen bits at the rounding position, divided among c and the products.

        kept                 beyond       far below
        1 x x x … x x x    | 1 0 0 0 …    0 0 0 ± tiny
                             ^ point: half a unit in the result's last place

An alignment may retain the tiny term, or cut part or all of it. The formats do not determine which, so callers sweep its
distance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray, lowest_lead, number, zeros
from golden.stimulus.placed_products import Products, lead_range, moved, operands_of
from golden.stimulus.shape import Operands, OperandShape

_TRIES = 16
"""Number of pairs of factors tried for one product; about a quarter of them fit."""


def bit_length(values: Any) -> IntArray:
    """Bit length of each magnitude, 0 for 0; object arrays may hold integers wider than 64 bits."""
    lengths: IntArray = np.frompyfunc(int.bit_length, 1, 1)(np.asarray(values, object)).astype(np.int64)
    return lengths


def significands(draws: GeneratorDraws, bits: IntArray) -> IntArray:
    """Integers of that many bits each, the leading one included: 1000…0, 1000…1, 111…1, 111…10, two ones, ones and then
    zeros, or (a quarter of them) anything."""
    kind = draws.integers(0, 8, bits.shape)
    lead, ones = np.int64(1) << (bits - 1), (np.int64(1) << bits) - 1
    place = np.int64(1) << draws.integers(0, bits)
    options = [lead, lead | 1, ones, np.maximum(ones - 1, lead), lead | place, (ones & -place) | lead]
    return np.select([kind == k for k in range(len(options))], options, lead | draws.integers(0, lead))


def factors(
    a: Format, b: Format, draws: GeneratorDraws, width: IntArray, second_last: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Fractions of a and b whose significands have a product of `width` bits, the last one a one.

    Args:
        width: at most the bits that a product of the formats has.
        second_last: the last bit but one, 0 or 1.

    Returns:
        Both fractions, and how far above the product's last bit its leading bit would be if both were zero.
    """
    size, width = (len(width), _TRIES), width[:, None]
    least, most = np.maximum(width - b.man_bits - 1, 1), np.minimum(width, a.man_bits + 1)
    bits_a = draws.integers(np.broadcast_to(least, size), np.broadcast_to(most, size), endpoint=True)
    bits_b = np.clip(width - bits_a + draws.integers(0, 2, size), 1, b.man_bits + 1)
    sig_a, sig_b = significands(draws, bits_a) | 1, significands(draws, bits_b) | 1
    fits = (bit_length(sig_a * sig_b) == width) & ((sig_a * sig_b >> 1) & 1 == second_last[:, None])
    chosen = np.argmax(fits, axis=1)[:, None]
    bits_a, bits_b, sig_a, sig_b = (np.take_along_axis(x, chosen, axis=1)[:, 0] for x in (bits_a, bits_b, sig_a, sig_b))
    return fraction(a, sig_a, bits_a), fraction(b, sig_b, bits_b), bits_a + bits_b - 2


def with_last_bit_alone(a: Format, b: Format, draws: GeneratorDraws, apart: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Fractions of a and b whose significands have a product x…x 1 0…0 1: the last bit is `apart` below the next one.

    Args:
        apart: 1 … man_bits of b.

    Returns:
        As `factors`.
    """
    rows = len(apart)
    sig_a = (significands(draws, np.full(rows, a.man_bits + 1)) | 1).astype(np.uint64)
    inverse = sig_a.copy()  # correct in three bits, and in twice as many after each Newton step (modulo 2^64)
    for _ in range(5):
        inverse *= np.uint64(2) - sig_a * inverse
    bit = np.uint64(1) << apart.astype(np.uint64)
    sig_b = inverse & (bit - np.uint64(1))
    sig_b = np.where(sig_a * sig_b & bit, sig_b, sig_b | bit)
    bits_b = bit_length(sig_b)
    frac_a, frac_b = sig_a.astype(np.int64) - (1 << a.man_bits), fraction(b, sig_b.astype(np.int64), bits_b)
    return frac_a, frac_b, a.man_bits + bits_b - 1


def fraction(operand: Format, sig: IntArray, bits: IntArray) -> IntArray:
    """The fraction (see `number`) of a significand of `bits` bits; bits that the format lacks are cut off."""
    lost = np.maximum(bits - operand.man_bits - 1, 0)
    return (sig >> lost << (operand.man_bits + 1 - bits + lost)) - (1 << operand.man_bits)


def codes_of(operand: Format, sign: IntArray, value: IntArray, lsb: IntArray) -> Any:
    """Codes of (−1)^sign · value · 2^lsb; bits that the format lacks are cut off."""
    length, magnitude = bit_length(value), np.abs(value)
    negative = sign ^ (value < 0)
    some = np.maximum(length, 1)
    finite = number(operand, negative, lsb + length - 1, fraction(operand, np.maximum(magnitude, 1), some))
    return np.where(value == 0, zeros(operand, negative), finite)


SHARES = BESIDE_C, OVERLAPPING_C, TWO_BESIDE_C, ONE_PRODUCT, ABOVE_C, PRODUCTS = range(6)
"""Division of the sum among the terms. BESIDE_C: c holds the kept bits and a product the bits beyond; or c is one more, and
the product subtracts it. OVERLAPPING_C: as BESIDE_C, but the product also holds some kept bits. TWO_BESIDE_C: two products
hold the bits beyond. ONE_PRODUCT: one product holds all bits. ABOVE_C: a product holds the upper bits and c the lower ones.
PRODUCTS: several products hold all bits, piece by piece."""

NONE, SAME, OTHER = range(3)
"""The tiny term: absent, of the sum's sign, or of the other sign."""


@dataclass
class Sums:
    """The exact sums that a batch of rows should have, [rows] each.

    Attributes:
        point: exponent of the first bit beyond those kept (exponent value).
        kept: the bits that the result keeps, as an integer.
        beyond: the amount added to them, in halves of a unit in the last place: 1 or −1 makes a tie, 2 or −2 a carry or a
            borrow, 0 leaves an exact sum.
        share: one of `SHARES`; if the formats or K do not allow it, another one replaces it.
        tiny: NONE, SAME or OTHER.
        distance: exponents between `point` and the tiny term, 0 for the bit next to it.
    """

    point: IntArray
    kept: IntArray
    beyond: IntArray
    share: IntArray
    tiny: IntArray
    distance: IntArray

    @property
    def total(self) -> IntArray:
        """The sum without the tiny term, in halves of a unit in the last place."""
        return 2 * self.kept + self.beyond


class Places:
    """A builder of products: they are put into their places one by one, and all others are zero."""

    def __init__(self, rows: int, K: int) -> None:
        self._present = np.zeros((rows, K), np.bool_)
        self._lead, self._sign, self._frac_a, self._frac_b = (np.zeros((rows, K), np.int64) for _ in range(4))

    def put(self, place: int, where: BoolArray, lead: Any, sign: Any, frac_a: Any = 0, frac_b: Any = 0) -> None:
        """Put a product at `place` into the rows that `where` selects; the other arguments are those of `Products`."""
        columns = (self._lead, self._sign, self._frac_a, self._frac_b)
        for column, values in zip(columns, (lead, sign, frac_a, frac_b), strict=True):
            column[:, place] = np.where(where, values, column[:, place])
        self._present[:, place] |= where

    def put_integer(self, place: int, where: BoolArray, sign: Any, value: IntArray, lsb: IntArray, a: Format) -> None:
        """Put the product (−1)^sign · value · 2^lsb at `place` into the rows that `where` selects, none if value is 0; all
        bits are in a."""
        length = bit_length(value)
        frac = fraction(a, np.maximum(np.abs(value), 1), np.maximum(length, 1))
        self.put(place, where & (value != 0), lsb + length - 1, sign ^ (value < 0), frac)

    def moved(self, shape: OperandShape, draws: GeneratorDraws) -> Products:
        """The products in other places, as `moved` does."""
        return moved(shape, draws, self.products)

    @property
    def products(self) -> Products:
        """The products in the places into which they were put."""
        return Products(self._lead, self._sign, self._present, self._frac_a, self._frac_b)


def point_range(shape: OperandShape, share: IntArray) -> tuple[IntArray, IntArray]:
    """The lowest and the highest `point` at which these shares can hold a sum; two equal values if there is none."""
    (low, high), kept = lead_range(shape), shape.d.man_bits + 1
    by_c = share <= TWO_BESIDE_C
    lowest = np.maximum(np.where(by_c, max(lowest_lead(shape.c), lowest_lead(shape.d)), lowest_lead(shape.d)) - 1, low)
    highest = np.where(by_c, min(high, shape.c.e_max - kept), high - kept)
    return lowest, np.maximum(np.minimum(highest, shape.d.e_max - kept), lowest)


def operands_with(shape: OperandShape, draws: GeneratorDraws, sums: Sums) -> Operands:
    """Operands with these exact sums, of either sign. All other products are zero."""
    rows, point, total, tiny = len(sums.point), sums.point, sums.total, sums.tiny != NONE
    sign, share, places = draws.integers(0, 2, rows), _possible_share(shape, sums), Places(rows, shape.K)
    # 1. the part of c: the kept bits, some of which a product may also hold; or the lower bits of the total
    overlap = draws.integers(0, 1 + np.minimum(sums.kept, 1 << max(shape.a.man_bits - 1, 0)) // 2)
    borrowed = (share <= OVERLAPPING_C) & (sums.beyond >= 0) & (draws.integers(0, 4, rows) == 0)
    overlap = np.where(borrowed, -1, np.where(share == OVERLAPPING_C, overlap, 0))
    overlap = overlap if shape.c.man_bits >= shape.d.man_bits else 0 * overlap
    length = np.maximum(bit_length(total), 1)
    upper = draws.integers(1, np.minimum(length, shape.a.man_bits + 1), endpoint=True)
    split = length - np.maximum(upper, length - shape.c.man_bits - 1)
    c_value = np.where(share <= TWO_BESIDE_C, 2 * (sums.kept - overlap), 0)
    c_value = np.where(share == ABOVE_C, total & ((1 << split) - 1), c_value)
    # 2. the part of the products
    beyond_c = sums.beyond + 2 * overlap
    places.put_integer(0, share <= OVERLAPPING_C, sign, beyond_c, point, shape.a)
    for place in range(min(2, shape.K)):
        places.put_integer(place, share == TWO_BESIDE_C, sign, sums.beyond, point - 1, shape.a)
    even = 1 - (total & 1)
    width, above_last = np.clip(length - even, 1, _product_bits(shape)), (total >> 1 + even) & 1
    frac_a, frac_b, reach = factors(shape.a, shape.b, draws, width, above_last)
    places.put(0, share == ONE_PRODUCT, point + even + reach, sign, frac_a, frac_b)
    places.put_integer(0, share == ABOVE_C, sign, total >> split, point + split, shape.a)
    for place, (piece, lsb) in enumerate(_pieces(shape, total)):
        places.put_integer(place, share == PRODUCTS, sign, piece, point + lsb, shape.a)
    # 3. the tiny term: c if it has no other part, a separate product, or the last bits of a single product or of c
    lead, tiny_sign = point - 1 - sums.distance, sign ^ (sums.tiny == OTHER)
    is_c = tiny & np.isin(share, (ONE_PRODUCT, PRODUCTS)) & ((shape.K == 1) | (draws.integers(0, 2, rows) == 0))
    if shape.K > 1:
        places.put(shape.K - 1, tiny & ~is_c, lead, tiny_sign, _tiny_fraction(draws, shape.a, rows))
    else:
        _put_uneven(shape, draws, places, sums, sign, beyond_c, tiny & (share == BESIDE_C))
        alone = np.clip(sums.distance + 1, 1, shape.b.man_bits)
        frac_a, frac_b, reach = with_last_bit_alone(shape.a, shape.b, draws, alone)
        its_sign, is_wide = sign ^ (sums.beyond < 0), tiny & (share == OVERLAPPING_C)
        places.put(0, is_wide, point - alone + reach, its_sign, frac_a, frac_b)
        c_value, point = _with_last_bit(shape.c, sums, tiny & (share == ABOVE_C), c_value)
    tiny_c = number(shape.c, tiny_sign, lead, _tiny_fraction(draws, shape.c, rows))
    c = np.where(is_c, tiny_c, codes_of(shape.c, sign, c_value, point))
    return operands_of(shape, draws, places.moved(shape, draws), c)


def _possible_share(shape: OperandShape, sums: Sums) -> IntArray:
    """The shares, with those replaced that need more products or wider ones than available."""
    length = bit_length(sums.total)
    pieces = -(-length // (shape.a.man_bits + 1))
    one_product = length <= _product_bits(shape)
    share = np.where(
        (sums.share == PRODUCTS) & (pieces >= min(shape.K, shape.block_size or shape.K)), ONE_PRODUCT, sums.share
    )
    share = np.where((share == ONE_PRODUCT) & ~one_product, BESIDE_C, share)
    share = np.where((share == ABOVE_C) & (length > shape.a.man_bits + shape.c.man_bits + 2), BESIDE_C, share)
    return np.where((share == TWO_BESIDE_C) & (shape.K < 3), OVERLAPPING_C, share)


def _product_bits(shape: OperandShape) -> int:
    return shape.a.man_bits + shape.b.man_bits + 2


def _pieces(shape: OperandShape, total: IntArray) -> list[tuple[IntArray, IntArray]]:
    """The bits of each total, cut from the top into pieces that one product holds, each with the place of its last bit."""
    width, length = shape.a.man_bits + 1, bit_length(total)
    pieces = []
    for piece in range(min(-(-int(length.max(initial=1)) // width), shape.K)):
        end = np.maximum(length - piece * width, 0)
        lsb = np.maximum(end - width, 0)
        pieces.append(((total & ((np.int64(1) << end) - 1)) >> lsb, lsb))
    return pieces


def _tiny_fraction(draws: GeneratorDraws, operand: Format, rows: int) -> Any:
    """Significands: a power of two in half of the rows, else with the next bit, with the last bit, or all ones."""
    ones = (1 << operand.man_bits) - 1
    return draws.choice([0, 0, 0, ones - (ones >> 1), ones & 1, ones], rows)


def _with_last_bit(c: Format, sums: Sums, where: BoolArray, value: IntArray) -> tuple[IntArray, IntArray]:
    """c's integer, changed by one in one of its free low bits, and the exponent of its last bit."""
    room = np.minimum(sums.distance + 1, c.man_bits - bit_length(value))
    below = np.where(where & (value > 0), np.maximum(room, 0), 0)
    last: IntArray = np.where(below > 0, np.where(sums.tiny == OTHER, -1, 1), 0)
    return (value << below) + last, sums.point - below


def _put_uneven(
    shape: OperandShape, draws: GeneratorDraws, places: Places, sums: Sums, sign: IntArray, value: IntArray, where: BoolArray
) -> None:
    """The only product: `value`, a power of two in halves of a unit in the last place, times (1 + 2^−i)·(1 + 2^−j) or
    (1 + 2^−i)·(1 − 2^−i), a little more or less than it; where it is 0, the tiny term."""
    man_a, man_b = shape.a.man_bits, shape.b.man_bits
    least = min(man_a, man_b)
    more, less = np.clip(sums.distance + 1, 1, man_a), np.clip(sums.distance // 2 + 1, 1, least)
    second = np.where(draws.integers(0, 2, len(sign)) == 0, 0, np.int64(1) << draws.integers(0, man_b, len(sign)))
    ones = (((np.int64(1) << less) - 1) << (man_b + 1 - less)) - (1 << man_b)
    is_less, some = (sums.tiny == OTHER) ^ (value < 0), where & (value != 0)
    lead = sums.point + bit_length(value) - 1 - is_less
    frac_a = np.int64(1) << (man_a - np.where(is_less, less, more))
    places.put(0, some, lead, sign ^ (value < 0), frac_a, np.where(is_less, ones, second))
    places.put(0, where & (value == 0), sums.point - 1 - sums.distance, sign ^ is_less)
