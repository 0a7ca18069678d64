"""Rows and tiles that vary a row of the corner table each, as stimulus/corners.hpp and elements.hpp have them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.stimulus.volume.addend import one_off
from golden.stimulus.volume.corner_table import A_DOWN, A_UP, B_DOWN, B_UP, C_DOWN, C_UP, LABEL, CornerTable
from golden.stimulus.volume.elements import A, B, Side, nudged, places, row_words
from golden.stimulus.volume.header import Header
from golden.stimulus.volume.numbers import Codes, negated, shifted
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import CORNER_WORD, Draws, IntArray, Key, Stream, Words, below


@dataclass
class Variation:
    """How tiles vary their corners, int64 [tiles] each; corners.hpp says what each is."""

    row: IntArray
    signs: IntArray
    swap: IntArray
    turn: IntArray
    down_a: IntArray
    span_a: IntArray
    down_b: IntArray
    span_b: IntArray
    nudge_odds: IntArray


def variations(plan: Plan, table: CornerTable, key: Key) -> Variation:
    """The variations of tiles with these keys: half of them keep their places, half their exponents."""
    random = key.word(Stream.HEADER, [CORNER_WORD]).astype(np.uint64)
    row = (random * np.uint64(len(table)) >> np.uint64(32)).astype(np.int64)
    about, draws = table.about[row].astype(np.int64), Draws(key)
    signs = (draws.below(4) > 0).astype(np.int64)
    moves = draws.below(2)
    swap = draws.below(plan.places)
    turn = draws.below(plan.K) if plan.rotates else 0 * swap
    shifts = draws.below(2)
    nudge_odds = np.where(draws.below(4), 0, plan.one_in_K)
    c_down, c_up = about[:, C_DOWN], about[:, C_UP]
    down_a, up_a = np.minimum(about[:, A_DOWN], c_down >> 1), np.minimum(about[:, A_UP], c_up >> 1)
    down_b, up_b = np.minimum(about[:, B_DOWN], (c_down + 1) >> 1), np.minimum(about[:, B_UP], (c_up + 1) >> 1)
    return Variation(
        row, signs, moves * swap, moves * turn, shifts * down_a, shifts * (down_a + up_a) + 1, shifts * down_b,
        shifts * (down_b + up_b) + 1, nudge_odds,
    )  # fmt: skip


def corner_tiles(plan: Plan, table: CornerTable, key: Key, m: int, n: int) -> tuple[list[Codes | None], Any]:
    """Operands of tiles that vary corners, uint64 in the order of `Operands`, and their labels."""
    v, shape, of = variations(plan, table, key), plan.shape, table.operands
    h = Header(key, nudge_odds=v.nudge_odds)
    words = {side: row_words(key, side, rows) for side, rows in ((A, m), (B, n))}
    shift = {A: _shift(words[A], v.down_a, v.span_a), B: _shift(words[B], v.down_b, v.span_b)}
    a, b = (_side(plan, v, key, codes, side, words[side], shift[side]) for side, codes in ((A, of.a), (B, of.b)))
    a = nudged(plan, h, True, a)
    scales: list[Codes | None] = [None, None]
    if shape.scale is not None and of.scale_a is not None and of.scale_b is not None:
        block = place_of(plan, v, plan.block * np.arange(shape.blocks)) // plan.block
        for position, (side, stored) in enumerate(((A, of.scale_a), (B, of.scale_b))):
            codes = stored[v.row[:, None], block].astype(np.uint64)[:, None, :]
            scales[position] = shifted(shape.scale, codes, shift[side][:, :, None])
    c = shifted(shape.c, of.c[v.row].astype(np.uint64)[:, None, None], shift[A][:, :, None] + shift[B][:, None, :])
    kind = key.word(Stream.C_KIND, places(m, n))
    c = np.where((v.nudge_odds > 0)[:, None, None], one_off(shape.c, c, kind), c)
    c = negated(shape.c, c, (words[A][:, :, None] ^ words[B][:, None, :]) & 1)
    return [a, b, c, *scales], table.about[v.row, LABEL]


def _shift(words: Words, down: IntArray, span: IntArray) -> IntArray:
    """Distances by which exponents of each row of A (or column of B) move, [tiles, rows]."""
    return below(words >> np.uint32(16), span[:, None]) - down[:, None]


def place_of(plan: Plan, v: Variation, k: IntArray) -> IntArray:
    """The table's places of products k, [tiles, products]."""
    place: IntArray = (k[None, :] + v.turn[:, None]) % plan.K ^ v.swap[:, None]
    return place


def _side(plan: Plan, v: Variation, key: Key, stored: Any, side: Side, words: Words, shift: IntArray) -> Codes:
    """A, or the columns of B: [tiles, rows, K]. Under scales these move instead of the elements."""
    operand, place = plan.operand(side.is_a), place_of(plan, v, np.arange(plan.K))
    codes = stored[v.row[:, None], place].astype(np.uint64)[:, None, :]
    sign = key.word(Stream.PRODUCT, place) & v.signs[:, None].astype(np.uint32)
    moved = codes if plan.block else shifted(operand, codes, shift[:, :, None])
    return negated(operand, moved, (words[:, :, None] & 1) ^ sign[:, None, :])
