"""Operands of a class's rows and tiles from their headers, as stimulus/elements.hpp and addend.hpp have them.

Axis 0 counts tiles; a row is a tile of one row of A and one column of B. Codes are uint64 until they are stored.
"""

from typing import Any, NamedTuple

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.codes import lowest_lead
from golden.stimulus.volume.header import Header
from golden.stimulus.volume.numbers import (
    Codes,
    any_code,
    changeable,
    code_word,
    fraction,
    landmark,
    number,
    word_bits,
    zero_or,
)  # fmt: skip
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import IntArray, Key, Stream, Words, below, mixed_word


class Side(NamedTuple):
    """One side of all products: A's rows, or B's columns."""

    is_a: bool
    codes: Stream
    row: Stream
    special: Stream
    scale: Stream
    special_scale: Stream


A = Side(True, Stream.A, Stream.ROW_A, Stream.SPECIAL_A, Stream.SCALE_A, Stream.SPECIAL_SCALE_A)
B = Side(False, Stream.B, Stream.ROW_B, Stream.SPECIAL_B, Stream.SCALE_B, Stream.SPECIAL_SCALE_B)


class Factors(NamedTuple):
    """Factors of products without fractions, [tiles, K] each: exponents of leading bits, signs, and zeros."""

    source: IntArray
    lead_a: IntArray
    lead_b: IntArray
    sign_a: Words
    sign_b: Words
    zero_a: Words
    zero_b: Words
    plain: Any


def beside(values: Any, ndim: int) -> Any:
    """One value per tile, shaped to broadcast against arrays of that many axes; a number stays a number."""
    return values.reshape(-1, *(1,) * (ndim - 1)) if isinstance(values, np.ndarray) else values


def places(rows: int, columns: int) -> IntArray:
    """The places of a tile's elements, [1, rows, columns]."""
    return np.arange(rows * columns).reshape(1, rows, columns)


def _split(x: Format, y: Format, lead: IntArray, random: Words) -> IntArray:
    """The first of two factors' exponents that add up to `lead`, every feasible pair equally likely."""
    low, high = np.maximum(lowest_lead(x), lead - y.e_max), np.minimum(x.e_max, lead - lowest_lead(y))
    return low + below(random, high - low + 1)


def source_of(plan: Plan, h: Header, k: IntArray) -> IntArray:
    """The product whose words product k [1, K] uses: k itself, or the first one of a cancelling pair."""
    partner = k ^ beside(h.pair, 2)
    return np.where((partner < k) & (partner < plan.K), partner, k)


def factors_of(plan: Plan, h: Header) -> Factors:
    """The factors of all products of rows that are in no corner."""
    k = np.arange(plan.K)[None, :]
    source = np.broadcast_to(source_of(plan, h, k), (len(h.key.low), plan.K))
    product, sharing = h.key.word(Stream.PRODUCT, source), h.key.word(Stream.SPLIT, source)
    chosen = source == beside(h.big_place, 2)
    is_big = chosen | ((product & 0xFF) < beside(h.big_odds, 2))
    down = beside(h.gap, 2) + below(product >> np.uint32(16), beside(h.spread, 2) + 1)
    lead = np.clip(beside(h.top, 2) - np.where(is_big, 0, down), plan.element_low, plan.element_high)
    lead_a = _split(plan.shape.a, plan.shape.b, lead, sharing)
    sign = (sharing >> np.uint32(16)) & 1
    is_zero = (~chosen & (((product >> np.uint32(8)) & 0xFF) < beside(h.zero_odds, 2))).astype(np.uint32)
    zero_a = is_zero & (sharing >> np.uint32(18))
    return Factors(
        source, lead_a, lead - lead_a, sign ^ (source != k), sign ^ ((sharing >> np.uint32(17)) & beside(h.mixed_signs, 2)),
        zero_a, is_zero ^ zero_a, is_big & beside(h.plain_big, 2),
    )  # fmt: skip


def row_words(key: Key, side: Side, rows: int) -> Words:
    """The words of rows of A, or of columns of B, [tiles, rows]."""
    return key.word(side.row, np.arange(rows)[None, :])


def side_codes(plan: Plan, h: Header, factors: Factors, side: Side, rows: int) -> Codes:
    """A, or the columns of B, of rows that are in no corner: [tiles, rows, K]."""
    operand, bits = plan.operand(side.is_a), word_bits(plan.operand(side.is_a))
    kind = h.frac_a if side.is_a else h.frac_b
    assert kind is not None
    random = code_word(h.key, bits, side.codes, factors.source[:, None, :] + plan.K * np.arange(rows)[None, :, None])
    mixed = beside(h.mixed_signs, 3)
    own = np.where(mixed, random.astype(np.uint32), row_words(h.key, side, rows)[:, :, None]) & 1
    sign, is_zero, lead = (
        (factors.sign_a, factors.zero_a, factors.lead_a) if side.is_a else (factors.sign_b, factors.zero_b, factors.lead_b)
    )
    frac = np.where(factors.plain[:, None, :], np.uint64(0), fraction(kind, operand.man_bits, random, bits))
    codes = zero_or(operand, is_zero[:, None, :] == 1, number(operand, sign[:, None, :] ^ own, lead[:, None, :], frac))
    if side.is_a:
        second = (factors.source != np.arange(plan.K))[:, None, :]
        codes = nudged(plan, h, second, codes)
    return special_or(operand, h, codes, side.special)


def any_codes(key: Key, operand: Format, stream: Stream, rows: int, columns: int, bits: int | None = None) -> Codes:
    """Random bit patterns, [tiles, rows, columns], from words of that many bits (None: as for the format's elements)."""
    bits = bits or word_bits(operand)
    return any_code(operand, code_word(key, bits, stream, places(rows, columns)), bits)


def nudged(plan: Plan, h: Header, may: Any, codes: Codes) -> Codes:
    """Codes of a, some with their last bit flipped if the result is still a finite number."""
    a = plan.shape.a
    drawn = (h.key.word(Stream.NUDGE_A, places(*codes.shape[1:])) & 0xFFFF) < beside(h.nudge_odds, 3)
    return np.where(may & drawn & changeable(a, codes), codes ^ np.uint64(1 << a.pad_bits), codes)


def special_or(operand: Format, h: Header, codes: Codes, stream: Stream) -> Codes:
    """Codes, some replaced by landmarks."""
    drawn = h.key.word(stream, places(*codes.shape[1:]))
    replaced = (drawn & 0xFFFF) < beside(h.special_odds, 3)
    if not replaced.any():
        return codes
    return np.where(replaced, landmark(operand, beside(h.menu, 3), mixed_word(drawn)), codes)


def scale_codes(plan: Plan, h: Header, side: Side, rows: int) -> Codes:
    """The scales of rows of A, or of columns of B, that are in no corner: [tiles, rows, blocks]."""
    scale, blocks = plan.shape.scale, plan.shape.blocks
    assert scale is not None
    block = np.arange(blocks)[None, :]
    drawn = h.key.word(Stream.BLOCK, block)
    is_big = (block == beside(h.big_place, 2) // plan.block) | ((drawn & 0xFF) < beside(h.big_odds, 2))
    down = beside(h.scale_gap, 2) + below(drawn >> np.uint32(16), beside(h.scale_spread, 2) + 1)
    wanted = beside(h.scale_top, 2) - np.where(is_big, 0, down)
    both = np.clip(wanted, 2 * lowest_lead(scale), 2 * scale.e_max)
    lead_a = _split(scale, scale, both, mixed_word(drawn))
    lead = lead_a if side.is_a else both - lead_a
    random = h.key.word(side.scale, places(rows, blocks))
    frac = np.where(random & 1, (random >> np.uint32(1)) & ((1 << scale.man_bits) - 1), 0)
    return special_or(scale, h, number(scale, 0, lead[:, None, :], frac), side.special_scale)
