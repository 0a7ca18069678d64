"""Variants of when the sum is rounded: after every product, or every group of products, and after every partial sum."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from golden import Cls, Format
from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.rounding import Mode
from golden.arrays import bits_dtype
from golden.engines.engine import Batch, run
from golden.variants.variant import Codes, Model, Rows, Variant, is_nan, is_zero, multiply_add

GROUPS = (2, 4, 8, 16)
"""Numbers of products of a group whose sum is rounded once."""

Add = Callable[[Codes, Codes], Codes]
Summed = Callable[[Sequence[Codes], Codes, Add], Codes]
"""A function that adds terms and c, two at a time, by a given addition."""


def _from_c(terms: Sequence[Codes], c: Codes, add: Add) -> Codes:
    return reduce(add, terms, c)


def _from_c_backwards(terms: Sequence[Codes], c: Codes, add: Add) -> Codes:
    return reduce(add, terms[::-1], c)


def _c_last(terms: Sequence[Codes], c: Codes, add: Add) -> Codes:
    return add(reduce(add, terms), c)


def _neighbours(terms: Sequence[Codes], c: Codes, add: Add) -> Codes:
    level = list(terms)
    while len(level) > 1:
        odd = level[len(level) & ~1 :]
        level = [*(add(x, y) for x, y in zip(level[::2], level[1::2], strict=False)), *odd]
    return add(level[0], c)


def _halves(terms: Sequence[Codes], c: Codes, add: Add) -> Codes:
    level = list(terms)
    while len(level) > 1:
        half = len(level) // 2
        odd = level[2 * half :]
        level = [*(add(x, y) for x, y in zip(level[:half], level[half : 2 * half], strict=True)), *odd]
    return add(level[0], c)


ORDERS: dict[str, Summed] = {
    "one after the other, from c": _from_c,
    "one after the other, c last": _c_last,
    "in pairs of neighbours, c last": _neighbours,
    "in pairs half a vector apart, c last": _halves,
    "one after the other, from c, the last first": _from_c_backwards,
}
"""The orders in which a design may add rounded terms."""

FUSED = {
    "every partial sum is rounded, products are not: one after the other, from c": (1, True),
    "every partial sum is rounded, products are not: one after the other, c last": (1, False),
    "every partial sum is rounded, products are not: one after the other, from c, the last first": (-1, True),
}
"""Chains of fused multiply-adds by name, each with its direction and whether c comes first."""


def partial_sum_variants(model: Model, K: int) -> Iterator[Variant[Rows]]:
    """Every variant of when the sum is rounded that is tried.

    Args:
        K: elements of a and b.
    """
    operation = model.operation
    rho = operation.structure.rho
    if K < 2 or rho is None or operation.c is not operation.d or not _is_plain(model):
        return
    own, is_chain = rho.mode, operation.structure.is_multiply_add
    for mode in dict.fromkeys((own, "RNE", "RZ")):
        arithmetic = _Arithmetic(model, mode)
        rounded = "" if mode == own else f", {mode}"
        if arithmetic.multiplies:
            exact = arithmetic.products_fit
            for words, (direction, from_c) in () if exact or is_chain else FUSED.items():
                yield from _zeros(model, f"{words}{rounded}", _chained(arithmetic, direction, from_c))
            rounds = "every partial sum is rounded" if exact else "every product is rounded, and every partial sum"
            for order, summed in ORDERS.items():
                yield from _zeros(model, f"{rounds}: {order}{rounded}", _products(arithmetic, summed))
    for G in GROUPS:
        if G < K and K % G == 0 and operation.length >= G:
            for order, summed in ORDERS.items():
                words = f"the sum of every {G} products is rounded, and every partial sum: {order}"
                yield from _grouped(model, G, words, summed)


def _is_plain(model: Model) -> bool:
    return model.chain.fp16_order is None and not model.around


@dataclass(frozen=True)
class _Arithmetic:
    """Products and additions in the format of d, each rounded."""

    model: Model
    mode: Mode

    @property
    def d(self) -> Format:
        found: Format = self.model.operation.d
        return found

    @property
    def multiplies(self) -> bool:
        """Whether d holds every value of a and b, so that a product of a and b can be computed in d."""
        unscaled = self.model.operation.scale_format is None
        return unscaled and all(_holds(self.d, operand) for operand in (self.model.a, self.model.b))

    @property
    def products_fit(self) -> bool:
        """Whether d holds every product, so that no product is rounded."""
        a, b, d = self.model.a, self.model.b, self.d
        lowest = a.e_min - a.man_bits + b.e_min - b.man_bits
        fits = a.man_bits + b.man_bits + 1 <= d.man_bits
        return fits and lowest >= d.e_min - d.man_bits and a.e_max + b.e_max + 1 <= d.e_max

    def fma(self, x: Codes, y: Codes, z: Codes) -> Codes:
        chain = multiply_add(self.model, rounding_to(self.mode, self.d))
        return run(None, chain, Batch(x[:, None], y[:, None], z))

    def add(self, x: Codes, y: Codes) -> Codes:
        return self.fma(x, np.full_like(x, self.d.encode(1)), y)

    def multiply(self, x: Codes, y: Codes) -> Codes:
        return self.fma(x, y, np.full_like(x, self.d.negative_zero))

    def vectors(self, rows: Rows) -> tuple[list[Codes], list[Codes]]:
        """The elements of a and b by place, as codes of d."""
        a, b = converted(rows.a, self.model.a, self.d), converted(rows.b, self.model.b, self.d)
        return list(a.T), list(b.T)


def _holds(d: Format, operand: Format) -> bool:
    """Whether every value of an operand is one of d."""
    if d.infinity is None or not operand.signed or operand.exp_bits > d.exp_bits or operand.man_bits > d.man_bits:
        return False
    lowest = operand.e_min - operand.man_bits
    return lowest >= d.e_min - d.man_bits and operand.e_max <= d.e_max


def converted(codes: Codes, operand: Format, d: Format) -> Codes:
    """Codes of an operand as codes of d, which holds all its values."""
    found, places = np.unique(codes, return_inverse=True)
    same = [_as(d, operand, int(code)) for code in found]
    result: Codes = np.array(same, bits_dtype(d))[places].reshape(codes.shape)
    return result


def _as(d: Format, operand: Format, code: int) -> int:
    x = operand.decode(code)
    if x.cls is Cls.NAN:
        assert d.nan is not None
        return d.nan
    if x.cls is Cls.INFINITY:
        return d.signed_infinity(x.sign)
    if x.cls is Cls.ZERO:
        return d.negative_zero if x.sign else 0
    return d.encode_scaled(-x.sig if x.sign else x.sig, x.exp - operand.man_bits, "RNE")


def _chained(arithmetic: _Arithmetic, direction: int, from_c: bool) -> Callable[[Rows], Codes]:
    def results(rows: Rows) -> Codes:
        a, b = arithmetic.vectors(rows)
        pairs = list(zip(a, b, strict=True))[::direction]
        if from_c:
            return reduce(lambda d, pair: arithmetic.fma(pair[0], pair[1], d), pairs, rows.c)
        first = arithmetic.multiply(*pairs[0])
        return arithmetic.add(reduce(lambda d, pair: arithmetic.fma(pair[0], pair[1], d), pairs[1:], first), rows.c)

    return results


def _products(arithmetic: _Arithmetic, summed: Summed) -> Callable[[Rows], Codes]:
    def results(rows: Rows) -> Codes:
        a, b = arithmetic.vectors(rows)
        return summed([arithmetic.multiply(x, y) for x, y in zip(a, b, strict=True)], rows.c, arithmetic.add)

    return results


def _grouped(model: Model, G: int, words: str, summed: Summed) -> Iterator[Variant[Rows]]:
    """Sums of G products by the model, each with a zero c, added up in d."""
    try:
        other = model.with_operation(model.operation.with_length(G))
    except (TypeError, ValueError):
        return
    rho = model.operation.structure.rho
    assert rho is not None
    arithmetic, block = _Arithmetic(model, rho.mode), model.operation.block_size

    def results(rows: Rows) -> Codes:
        sums = []
        for k in range(0, rows.a.shape[1], G):
            part = replace(rows, a=rows.a[:, k : k + G], b=rows.b[:, k : k + G], c=rows.c * 0)
            if block is not None:
                scales = slice(k // block, max(k // block + 1, (k + G) // block))
                of_a, of_b = rows.scale_a, rows.scale_b
                part = replace(part, scale_a=None if of_a is None else of_a[:, scales],
                               scale_b=None if of_b is None else of_b[:, scales])  # fmt: skip
            sums.append(other.results(part))
        return summed(sums, rows.c, arithmetic.add)

    yield from _zeros(model, words, results)


def _zeros(model: Model, words: str, results: Callable[[Rows], Codes]) -> Iterator[Variant[Rows]]:
    """Two variants: with the zero sign of the last addition, and with that of the model; both with the model's NaN."""
    d = model.operation.d

    def as_usual(rows: Rows) -> Codes:
        found = results(rows)
        return np.where(is_nan(found, d), _nan(model, rows), found) if is_nan(found, d).any() else found

    def as_model(rows: Rows) -> Codes:
        found = as_usual(rows)
        return np.where(is_zero(found, d) & is_zero(rows.expected, d), rows.expected, found)

    yield Variant(words, as_model)
    yield Variant(f"{words}; a zero has the sign of IEEE 754", as_usual)


def _nan(model: Model, rows: Rows) -> Any:
    """The model's NaN: its result if c is NaN."""
    one = rows.of(slice(0, 1))
    code = model.operation.c.nan
    assert code is not None
    return model.results(replace(one, c=one.c * 0 + one.c.dtype.type(code)))[0]
