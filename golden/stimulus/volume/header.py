"""The headers of rows (or tiles): their class, and the choices that their words determine, as in stimulus/header.hpp."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.stimulus.codes import lowest_lead
from golden.stimulus.volume.numbers import Fractions, fractions_of
from golden.stimulus.volume.plan import MODERATE, Plan
from golden.stimulus.volume.words import Draws, IntArray, Key

GAPS = 48
"""Exponent gaps between big products and others (exponent value); more than the widest published alignment, F = 35."""


@dataclass
class Header:
    """Headers of rows of one class; numbers are int64 [rows] or the same for all rows. header.hpp says what each is."""

    key: Key
    top: Any = 0
    gap: Any = 0
    spread: Any = 0
    big_place: Any = 0
    big_odds: Any = 0
    plain_big: Any = 0
    zero_odds: Any = 0
    mixed_signs: Any = 0
    frac_a: Fractions | None = None
    frac_b: Fractions | None = None
    frac_c: Fractions | None = None
    pair: Any = 0
    nudge_odds: Any = 0
    menu: Any = 0
    special_odds: Any = 0
    scale_top: Any = 0
    scale_gap: Any = 0
    scale_spread: Any = 0
    near: tuple[Any, int] = (0, 1)
    far: tuple[Any, int] = (0, 1)
    zero_c: Any = 0
    far_c: Any = 0
    completes: Any = False


def _between(draws: Draws, low: int, high: int) -> IntArray:
    """Random integers from low to high, both included."""
    return low + draws.below(high - low + 1)


def _moderate_top(plan: Plan, draws: Draws) -> IntArray:
    low, high = plan.low, plan.high
    return _between(draws, max(low, min(-MODERATE, high)), min(high, max(MODERATE, low)))


def _place_products(plan: Plan, draws: Draws, top: IntArray, gap: Any, spread: Any, h: Header) -> None:
    """Exponents of products around `top`: with scales, divided between the elements and the scales."""
    clipped = np.clip(top, plan.low, plan.high)
    h.top, h.gap, h.spread = clipped, gap, spread
    if not plan.block:
        return
    reach = draws.below(1 + plan.shape.a.man_bits + plan.shape.b.man_bits)
    h.top, h.gap = plan.element_high - reach, 0
    h.spread = np.minimum(spread, plan.element_high - plan.element_low)
    h.scale_top, h.scale_gap, h.scale_spread = clipped - h.top, gap, spread


def _fractions(operand: Format, draws: Draws) -> Fractions:
    kind = draws.below(8)
    return fractions_of(operand.man_bits, kind, draws.below(operand.man_bits))


def _start(plan: Plan, draws: Draws, h: Header) -> None:
    c = plan.shape.c
    h.frac_a, h.frac_b, h.frac_c = (_fractions(operand, draws) for operand in (plan.shape.a, plan.shape.b, c))
    h.mixed_signs = draws.below(2)
    h.big_place = draws.below(plan.K)
    h.far = (lowest_lead(c), c.e_max - lowest_lead(c) + 1)
    h.zero_c, h.far_c = 32, 64


def _any_spread(draws: Draws) -> IntArray:
    spread: IntArray = (1 << draws.below(7)) - 1
    return spread


def _normal(plan: Plan, draws: Draws, h: Header) -> None:
    top = _moderate_top(plan, draws)
    spread = _any_spread(draws)
    _place_products(plan, draws, top, 0, spread, h)
    h.near = (top - 28, 36)


def _cancel(plan: Plan, draws: Draws, h: Header) -> None:
    _normal(plan, draws, h)
    h.completes = True if plan.K == 1 else draws.below(4) == 0
    h.pair = 1 + draws.below(plan.pairs - 1) if plan.pairs > 1 else 0
    h.nudge_odds = np.where(draws.below(2), 0, plan.one_in_K)


def _specials(plan: Plan, draws: Draws, h: Header) -> None:
    _normal(plan, draws, h)
    h.menu = draws.below(3)
    odds, one = draws.below(3), plan.one_in_K
    h.special_odds = np.select([odds == 2, odds == 1], [21845, min(2 * one, 65536)], one >> 1)


def _tiny(plan: Plan, draws: Draws, h: Header) -> None:
    c, d = plan.shape.c, plan.shape.d
    at_inputs = plan.low + draws.below(24)
    at_result = lowest_lead(d) - 12 + draws.below(d.man_bits + 18)
    at_edge, gap, spread = lowest_lead(d) - 1 + draws.below(3), draws.below(GAPS), _any_spread(draws)
    where, zeros = draws.below(4), draws.below(4)
    is_edge = where > 1
    top = np.select([is_edge, where == 0], [at_edge, at_inputs], at_result)
    _place_products(plan, draws, top, np.where(is_edge, gap, 0), np.where(is_edge, spread & 3, spread), h)
    h.plain_big = is_edge
    h.zero_odds = np.array([0, 0, 128, 224])[zeros]
    h.near = (top - 28, 36)
    h.far = (lowest_lead(c), c.man_bits + 2)
    h.zero_c = np.where(draws.below(2), 256, 64)
    h.far_c = 160


def _huge(plan: Plan, draws: Draws, h: Header) -> None:
    c, d = plan.shape.c, plan.shape.d
    at_inputs = plan.high - draws.below(4)
    at_result = d.e_max + 1 - draws.below(9)
    top = np.where(draws.below(4), at_result, at_inputs)
    spread = _any_spread(draws)
    _place_products(plan, draws, top, 0, spread, h)
    h.near = (top - 28, 36)
    h.far = (c.e_max - 1, 2)
    h.far_c = 144


def _apart(plan: Plan, draws: Draws, h: Header) -> None:
    gap = draws.below(max(GAPS, 2 * plan.shape.d.man_bits + 8))
    top = _moderate_top(plan, draws)
    spread = (1 << draws.below(5)) - 1
    _place_products(plan, draws, top, gap, spread, h)
    h.big_odds = np.where(draws.below(2), 32, 0)
    h.plain_big = draws.below(2) == 1
    h.near = (top - 4, 8)
    h.far = (top - gap - 8, 12)
    h.zero_c, h.far_c = 64, 160


def _completed(plan: Plan, draws: Draws, h: Header) -> None:
    _apart(plan, draws, h)
    h.completes = True


_MAKERS: dict[str, Callable[[Plan, Draws, Header], None]] = {
    "normal": _normal,
    "cancel": _cancel,
    "specials": _specials,
    "tiny": _tiny,
    "huge": _huge,
    "apart": _apart,
    "completed": _completed,
}

CLASSES = ("bits", *_MAKERS)
"""The classes, in the order of their labels; the corners' labels follow."""


def headers(plan: Plan, name: str, key: Key) -> Header:
    """The headers of rows of one class other than `bits`."""
    draws, h = Draws(key), Header(key)
    _start(plan, draws, h)
    _MAKERS[name](plan, draws, h)
    return h
