"""Significands that expose errors of carries, sticky bits and rounding: lone ones, runs of ones, and products of them."""

from typing import Any

import numpy as np

from golden.formats import Format
from golden.stimulus.codes import IntArray, number, zeros
from golden.stimulus.draws import GeneratorDraws

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
