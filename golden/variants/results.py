"""Variants of the results: the code of a NaN, the sign of a zero, overflow, subnormals, bits of d."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from golden import Format
from golden.variants.variant import (
    Codes,
    Model,
    Rows,
    Variant,
    is_infinity,
    is_nan,
    is_subnormal,
    is_zero,
    sign_bit,
    with_results,
    zeros_of_sign,
)

CONSTANT = 8
"""Smallest number of mismatches with the same result for which the result may be a constant."""


def result_variants(model: Model, failing: Rows) -> Iterator[Variant[Rows]]:
    """Every variant of results that is tried.

    Args:
        failing: the mismatches, which may show another NaN.
    """
    d = model.operation.d
    yield from _nans(model, d, failing)
    yield from _infinities(model, d)
    yield from _zeros(model)
    yield _change(model, "subnormal results are +0", is_subnormal, lambda codes, _: codes * 0)
    yield _change(model, "subnormal results, once rounded, are zeros of their sign", is_subnormal, zeros_of_sign)
    yield from _bits(model)
    yield from _without_sums(model, failing)


def _without_sums(model: Model, failing: Rows) -> Iterator[Variant[Rows]]:
    """Variants in which the result is always the same, or is c."""
    c, d = model.operation.c, model.operation.d
    given = np.unique(failing.got)
    if given.size == 1 and len(failing) >= CONSTANT:
        code = int(given[0])
        yield with_results(model, f"d is always {code:#x}", lambda _, codes: codes * 0 + _of(codes, code))
    if c is d and "c" in model.operation.operands:
        yield with_results(model, "d is c itself: no product is added", lambda rows, codes: rows.c.astype(codes.dtype))


def _nans(model: Model, d: Format, failing: Rows) -> Iterator[Variant[Rows]]:
    """The variant with the design's NaN, if all its NaN results have one code."""
    given = np.unique(failing.got[is_nan(failing.expected, d)])
    if given.size == 1:
        code, own = int(given[0]), int(failing.expected[is_nan(failing.expected, d)][0])
        words = f"NaN is {code:#x}, not {own:#x}"
        if is_infinity(given, d).any():
            words = "NaN is an infinity"
        elif not is_nan(given, d).any():
            words = f"NaN is not recognised: the result is {d.describe(code)}"
        yield _change(model, words, is_nan, lambda codes, _: codes * 0 + codes.dtype.type(code))


def _infinities(model: Model, d: Format) -> Iterator[Variant[Rows]]:
    sign, nan, largest = sign_bit(d), d.nan or 0, d.max_finite
    yield _change(
        model,
        "an infinity is the largest finite number",
        is_infinity,
        lambda codes, _: (codes & _of(codes, sign)) | _of(codes, largest),
    )
    yield _change(model, "an infinity is a NaN", is_infinity, lambda codes, _: codes * 0 + _of(codes, nan))
    yield _change(model, "the sign of an infinity is lost", is_infinity, lambda codes, _: codes & ~_of(codes, sign))


def _zeros(model: Model) -> Iterator[Variant[Rows]]:
    d = model.operation.d
    minus = sign_bit(d)
    yield _change(model, "zero is -0", is_zero, lambda codes, _: codes | _of(codes, minus))
    yield _change(model, "zero is +0", is_zero, lambda codes, _: codes & ~_of(codes, minus))
    c = model.operation.c
    if "c" not in model.operation.operands:
        return

    def sign_of_c(rows: Rows, codes: Codes) -> Codes:
        negative = (rows.c >> (c.width - 1) & 1).astype(bool)
        return np.where(is_zero(codes, d), np.where(negative, _of(codes, minus), 0), codes).astype(codes.dtype)

    def all_negative(rows: Rows, codes: Codes) -> Codes:
        signs = (rows.a >> (model.a.width - 1) ^ rows.b >> (model.b.width - 1)) & 1
        negative = signs.astype(bool).all(axis=1) & (rows.c >> (c.width - 1) & 1).astype(bool)
        return np.where(is_zero(codes, d) & negative, codes | _of(codes, minus), codes)

    yield with_results(model, "a zero has the sign of c", sign_of_c)
    yield with_results(model, "a zero is -0 where every term is negative", all_negative)


def _bits(model: Model) -> Iterator[Variant[Rows]]:
    d = model.operation.d
    everything, minus = d.codes - 1, sign_bit(d)
    yield with_results(model, "every bit of d is inverted", lambda _, codes: codes ^ _of(codes, everything))
    yield with_results(model, "the sign of d is inverted", lambda _, codes: codes ^ _of(codes, minus))
    yield with_results(model, "the sign of d is lost", lambda _, codes: codes & ~_of(codes, minus))
    for bit in range(d.width - 1):  # the last one is the sign
        yield from _bit(model, bit)


def _bit(model: Model, bit: int) -> Iterator[Variant[Rows]]:
    mask = 1 << bit
    yield with_results(model, f"bit {bit} of d is stuck at 0", lambda _, codes: codes & ~_of(codes, mask))
    yield with_results(model, f"bit {bit} of d is stuck at 1", lambda _, codes: codes | _of(codes, mask))
    yield with_results(model, f"bit {bit} of d is inverted", lambda _, codes: codes ^ _of(codes, mask))


def _of(codes: Codes, value: int) -> Any:
    """A number in the dtype of the codes."""
    return codes.dtype.type(value)


def _change(
    model: Model, words: str, mask: Callable[[Codes, Format], Any], change: Callable[[Codes, Format], Codes]
) -> Variant[Rows]:
    d = model.operation.d
    return with_results(model, words, lambda _, codes: np.where(mask(codes, d), change(codes, d), codes))
