"""Rows and tiles of integers (a and b of at most 8 bits, c int32), as stimulus/integers.hpp has them."""

from typing import Any, NamedTuple

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.volume.corner_table import LABEL, CornerTable
from golden.stimulus.volume.corners import place_of, variations
from golden.stimulus.volume.elements import A, B, Side, beside, places
from golden.stimulus.volume.numbers import Codes
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import Draws, IntArray, Key, Stream, Words, below

NUMBER, SINGLE_BIT, END, TO_ZERO, TO_END = range(5)
"""Kinds of elements and of c, numbered as enum Made in C++."""

FEW_BITS, FEW_BITS_OF_C = 2, 20
"""Bits of `tiny` numbers and largest distance of an element from an end of its range; largest distance of c from an end of
its range."""


class IntegerHeader(NamedTuple):
    """Headers of rows of one class; numbers are int64 [rows] or the same for all rows. integers.hpp says what each is."""

    key: Key
    lack_a: Any
    lack_b: Any
    lack_c: Any
    elements: Any
    addend: Any
    mixed_ends: IntArray
    top_end: IntArray
    pair: Any
    only: Any
    special_odds: Any


def headers(plan: Plan, name: str, key: Key) -> IntegerHeader:
    """The headers of rows of one class."""
    draws = Draws(key)
    lack_a, lack_b, lack_c = draws.below(8), draws.below(8), draws.below(32)
    place, odds, pair = draws.below(plan.K), draws.below(3), 1 + draws.below(max(plan.pairs - 1, 1))
    either, mixed, top = (draws.below(2) for _ in range(3))
    start = IntegerHeader(key, lack_a, lack_b, lack_c, NUMBER, NUMBER, mixed, top, 0, -1, 0)
    if name == "bits":
        return start._replace(lack_a=0 * lack_a, lack_b=0 * lack_b, lack_c=0 * lack_c)
    if name == "cancel":
        cancels = plan.K > 1 and (plan.shape.a.signed or plan.shape.b.signed)
        addend = np.where(either, NUMBER, TO_ZERO) if cancels else TO_ZERO
        return start._replace(pair=pair if cancels else 0, addend=addend)
    if name == "specials":
        few = np.where(odds, 2 * plan.one_in_K, plan.one_in_K)
        return start._replace(special_odds=np.where(odds == 2, 21845, np.minimum(few, 65536)))
    if name == "tiny":
        few_of_8, few_of_32 = 0 * lack_a + 8 - FEW_BITS, 0 * lack_c + 32 - FEW_BITS
        return start._replace(lack_a=few_of_8, lack_b=few_of_8, lack_c=few_of_32)
    if name == "huge":
        return start._replace(elements=END, addend=END)
    if name == "apart":
        return start._replace(elements=SINGLE_BIT, addend=SINGLE_BIT, only=np.where(either, place, -1))
    if name == "completed":
        return start._replace(elements=np.where(either, END, NUMBER), addend=TO_END)
    return start


def _wrapped(operand: Format, values: Any) -> IntArray:
    """The codes of the low bits of integers, as int64."""
    codes: IntArray = values & (operand.codes - 1)
    return codes


def integers_of(operand: Format, codes: Any) -> IntArray:
    """The integer values of codes."""
    codes = codes.astype(np.int64)
    values: IntArray = codes - operand.codes * ((codes > operand.max_finite) & operand.signed)
    return values


def _number_codes(operand: Format, random: Words, lack: Any) -> IntArray:
    return _wrapped(operand, integers_of(operand, _wrapped(operand, random.astype(np.int64))) >> lack)


def _single_bit_codes(operand: Format, bits: IntArray) -> IntArray:
    one = np.int64(1) << (bits & (operand.width - 1))
    return _wrapped(operand, (one - (bits >> 8 & 1)) ^ -(bits >> 9 & 1))


def _end_codes(operand: Format, few: Any, is_top: Any) -> IntArray:
    return _wrapped(operand, np.where(is_top, operand.max_finite - few, operand.max_finite + 1 + few))


def _landmarks(operand: Format, bits: IntArray) -> IntArray:
    ends = [_end_codes(operand, few, is_top) for is_top in (1, 0) for few in (0, 1)]
    return np.choose(bits >> 10 & 7, [0, 1, operand.codes - 1, *ends, _single_bit_codes(operand, bits)])


def _integer_codes(
    operand: Format, h: IntegerHeader, made: Any, lack: Any, few: Any, random: Words, words: Words
) -> IntArray:
    """Elements or c alike; arrays of three axes, the first one of tiles."""
    bits, made = words.astype(np.int64), beside(made, 3)
    low = _wrapped(operand, random.astype(np.int64)) >> np.maximum(operand.width - few, 0)
    ends = _end_codes(operand, low, np.where(beside(h.mixed_ends, 3), bits >> 10 & 1, beside(h.top_end, 3)))
    number = _number_codes(operand, random, beside(lack, 3))
    codes = np.select([made == SINGLE_BIT, made == END], [_single_bit_codes(operand, bits), ends], number)
    return np.where(bits >> 16 < beside(h.special_odds, 3), _landmarks(operand, bits), codes)


def _elements(plan: Plan, h: IntegerHeader, side: Side, rows: int) -> IntArray:
    """A, or the columns of B: [tiles, rows, K]."""
    operand, k = plan.operand(side.is_a), np.arange(plan.K)[None, :]
    partner = k ^ beside(h.pair, 2)
    is_second = (partner < k) & (partner < plan.K)
    source = np.where(is_second, partner, k)[:, None, :]
    place = np.arange(rows)[None, :, None] * plan.K + source
    random, bits = h.key.word(side.codes, place), h.key.word(side.special, place)
    lack = np.maximum((h.lack_a if side.is_a else h.lack_b) - (8 - operand.width), 0)
    codes = _integer_codes(operand, h, h.elements, lack, FEW_BITS, random, bits)
    negated = is_second[:, None, :] & (side.is_a == plan.shape.a.signed)
    left_out = (beside(h.only, 3) >= 0) & (k[:, None, :] != beside(h.only, 3))
    return np.where(left_out, 0, np.where(negated, _wrapped(operand, -codes), codes))


def _addends(plan: Plan, h: IntegerHeader, a: IntArray, b: IntArray) -> IntArray:
    """The accumulators [tiles, m, n]."""
    c, place = plan.shape.c, places(a.shape[1], b.shape[1])
    lowest = c.max_finite - c.codes + 1
    few = np.minimum(32 - beside(h.lack_c, 3), FEW_BITS_OF_C)
    drawn = _integer_codes(c, h, h.addend, h.lack_c, few, h.key.word(Stream.C, place), h.key.word(Stream.SPECIAL_C, place))
    kind, made = h.key.word(Stream.C_KIND, place), beside(np.broadcast_to(h.addend, len(a)), 3)
    total = np.einsum("tik,tjk->tij", integers_of(plan.shape.a, a), integers_of(plan.shape.b, b))
    end = np.where(total < 0, lowest, c.max_finite) + below(kind, 8) - 4
    wanted = np.where(made == TO_END, end, below(kind, 3) - 1)
    completing = _wrapped(c, np.clip(wanted - total, lowest, c.max_finite))
    return np.where(made >= TO_ZERO, completing, drawn)


def class_tiles(plan: Plan, name: str, key: Key, m: int, n: int) -> list[Codes | None]:
    """Operands of tiles of one class, uint64 in the order of `Operands`."""
    h = headers(plan, name, key)
    a, b = _elements(plan, h, A, m), _elements(plan, h, B, n)
    return [codes.astype(np.uint64) for codes in (a, b, _addends(plan, h, a, b))] + [None, None]


def corner_tiles(plan: Plan, table: CornerTable, key: Key, m: int, n: int) -> tuple[list[Codes | None], Any]:
    """Operands of tiles that vary corners, uint64 in the order of `Operands`, and their labels."""
    v, of = variations(plan, table, key), table.operands
    place = place_of(plan, v, np.arange(plan.K))
    a, b = (
        np.broadcast_to(codes[v.row[:, None], place].astype(np.uint64)[:, None, :], (len(v.row), size, plan.K))
        for codes, size in ((of.a, m), (of.b, n))
    )
    kind = key.word(Stream.C_KIND, places(m, n)).astype(np.int64)
    off = np.where((v.nudge_odds > 0)[:, None, None], 1 - (kind & 2), 0)
    c = _wrapped(plan.shape.c, of.c[v.row].astype(np.int64)[:, None, None] + off).astype(np.uint64)
    return [a, b, c, None, None], table.about[v.row, LABEL]
