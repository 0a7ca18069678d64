"""The accumulators of a class's rows and tiles, as stimulus/addend.hpp has them."""

from typing import Any, NamedTuple

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.volume.elements import beside, places, special_or
from golden.stimulus.volume.header import Header
from golden.stimulus.volume.numbers import Codes, changeable, code_word, fraction, number, zero_or
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import IntArray, Stream, Words, below


class Magnitude(NamedTuple):
    """Products during their construction: sign, exponent of the leading bit, 64 bits of the significand (0: zero)."""

    sign: Codes
    lead: IntArray
    sig: Codes


def _upper_product(x: Codes, y: Codes) -> Codes:
    """The upper halves of x·y."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle = x1 * y0 + (x0 * y0 >> half)
    upper: Codes = x1 * y1 + (middle >> half) + ((x0 * y1 + (middle & low)) >> half)
    return upper


def _decoded(operand: Format, code: Codes) -> tuple[Codes, IntArray, Codes]:
    """Sign, exponent and significand of finite codes."""
    sign = (code >> np.uint64(operand.width - 1)) & np.uint64(1) if operand.signed else np.zeros_like(code)
    field = (code >> np.uint64(operand.pad_bits)) & np.uint64((1 << (operand.exp_bits + operand.man_bits)) - 1)
    stored = (field >> np.uint64(operand.man_bits)).astype(np.int64)
    normal = (stored > 0) | (not operand.subnormals)
    mantissa = field & np.uint64((1 << operand.man_bits) - 1)
    sig = mantissa | np.where(normal, np.uint64(1 << operand.man_bits), np.uint64(0))
    return sign, np.where(normal, stored - operand.bias, operand.e_min), sig


def _times(product: Magnitude, operand: Format, code: Codes) -> Magnitude:
    """product · the value of a code, truncated to 64 bits."""
    sign, exp, sig = _decoded(operand, code)
    length = np.frexp(sig.astype(np.float64))[1].astype(np.int64)  # exact: significands have at most 53 bits
    half = _upper_product(product.sig, sig << (64 - np.maximum(length, 1)).astype(np.uint64))
    carried = half >> np.uint64(63)
    lead = product.lead + exp - operand.man_bits + length - 1 + carried.astype(np.int64)
    is_zero = (sig == 0) | (product.sig == 0)
    normalised = half << (np.uint64(1) - carried)
    return Magnitude(product.sign ^ sign, lead, np.where(is_zero, np.uint64(0), normalised))


def _completing(plan: Plan, h: Header, a: Codes, b: Codes, scale_a: Codes | None, scale_b: Codes | None) -> Codes:
    """Codes that cancel product big_place, truncated to the bits of c; +0 if that product is zero."""
    shape, tile = plan.shape, (len(a), a.shape[1], b.shape[1])

    def chosen(codes: Codes, size: int, axis: int) -> Codes:
        place = np.broadcast_to(beside(h.big_place, 3) // size, (len(a), 1, 1))
        picked = np.take_along_axis(codes, np.broadcast_to(place, (len(a), codes.shape[1], 1)), axis=2)[:, :, 0]
        return np.broadcast_to(np.expand_dims(picked, axis), tile)

    product = Magnitude(np.zeros(tile, np.uint64), np.zeros(tile, np.int64), np.full(tile, 1 << 63, np.uint64))
    product = _times(product, shape.a, chosen(a, 1, 2))
    product = _times(product, shape.b, chosen(b, 1, 1))
    if shape.scale is not None and scale_a is not None and scale_b is not None:
        product = _times(product, shape.scale, chosen(scale_a, plan.block, 2))
        product = _times(product, shape.scale, chosen(scale_b, plan.block, 1))
    frac = (product.sig << np.uint64(1)) >> np.uint64(64 - shape.c.man_bits)
    code = number(shape.c, product.sign ^ np.uint64(1), product.lead, frac)
    return np.where(product.sig == 0, np.uint64(0), code)


def one_off(operand: Format, code: Codes, bits: Words) -> Codes:
    """Codes one ulp up or down where two bits say so, in a quarter of the cases each."""
    ulp = np.uint64(1 << operand.pad_bits)
    changed = np.where(bits & 1, code + ulp, code - ulp)
    return np.where(((bits & 3) <= 1) & changeable(operand, code), changed, code)


def addends(plan: Plan, h: Header, a: Codes, b: Codes, scale_a: Codes | None, scale_b: Codes | None) -> Codes:
    """The accumulators of rows that are in no corner: [tiles, m, n]."""
    c, place = plan.shape.c, places(a.shape[1], b.shape[1])
    kind = h.key.word(Stream.C_KIND, place)
    completed = beside(np.broadcast_to(np.asarray(h.completes), len(a)), 3)
    which, sign = (kind & 0xFF).astype(np.int64), (kind >> np.uint32(8)) & 1
    is_far = which < beside(h.far_c, 3)

    def lead(low: Any, span: int) -> IntArray:
        exponents: IntArray = beside(low, 3) + below(kind >> np.uint32(16), span)
        return exponents

    assert h.frac_c is not None
    # fractions of c come from words of 64 bits for every format
    random = code_word(h.key, 64, Stream.C, place)
    finite = number(c, sign, np.where(is_far, lead(*h.far), lead(*h.near)), fraction(h.frac_c, c.man_bits, random, 64))
    codes = special_or(c, h, zero_or(c, which < beside(h.zero_c, 3), finite), Stream.SPECIAL_C)
    if not completed.any():
        return codes
    completing = _completing(plan, h, a, b, scale_a, scale_b)
    return np.where(completed, np.where(kind & 4, completing, one_off(c, completing, kind)), codes)
