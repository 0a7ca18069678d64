"""Exact dot products, many at a time: c + Σ α·β·a_k·b_k in fixed point as wide as the operands need.

Every term is an integer times a power of two. Its bits go into limbs of `LIMB_BITS`, which NumPy adds in doubles that stay
integers below 2**53, so that no bit is ever lost. `Exact` keeps the double nearest to each sum, and the first 53 bits of
their difference; what is cut there lies below 2**−104 of the sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import bits_dtype
from golden.stimulus import Operands, OperandShape

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger[Any]]

FINITE, INFINITE, NAN = 0, 1, 2
"""The kinds of codes: finite number, infinity, NaN."""

TABLE_BITS = 16
"""Formats of at most this many bits are looked up in a table."""


class Parts(NamedTuple):
    """Finite codes are sig · 2**exp; others have sig 0.

    Attributes:
        sig: signed. exp: exponent of sig's last bit (exponent value). kind: `FINITE`, `INFINITE` or `NAN`.
        negative: the sign, of zeros and infinities too.
    """

    sig: Ints
    exp: Ints
    kind: npt.NDArray[np.uint8]
    negative: npt.NDArray[np.bool_]


def parts(operand: Format, codes: Codes) -> Parts:
    """The parts of codes, each in the shape of the codes."""
    if operand.width > TABLE_BITS:
        return _split(operand, codes)
    return Parts(*(np.take(column, codes) for column in _table(operand)))  # type: ignore[arg-type]


@cache
def _table(operand: Format) -> Parts:
    return _split(operand, np.arange(operand.codes, dtype=bits_dtype(operand)))


def _split(operand: Format, codes: Codes) -> Parts:
    if isinstance(operand, CodedFormat):
        return _split(operand.carrier, operand.carried_codes(codes))
    if isinstance(operand, IntegerFormat):
        value = codes.astype(np.int64)
        sig = np.where(value > operand.max_finite, value - operand.codes, value)
        return Parts(sig, np.zeros_like(sig), np.zeros(sig.shape, np.uint8), sig < 0)
    field = (codes >> codes.dtype.type(operand.pad_bits)).astype(np.int64) & (
        (1 << (operand.exp_bits + operand.man_bits)) - 1
    )
    stored_exp, mantissa = field >> operand.man_bits, field & ((1 << operand.man_bits) - 1)
    negative = (codes >> codes.dtype.type(operand.width - 1)).astype(bool) & operand.signed
    subnormal = (stored_exp == 0) & operand.subnormals
    hidden = np.where(subnormal | ((field == 0) & operand.has_zero), 0, 1 << operand.man_bits)
    sig = mantissa | hidden
    exp = stored_exp + subnormal - operand.bias - operand.man_bits
    kind = _kinds(operand, field, negative)
    sig = np.where(kind == FINITE, np.where(negative, -sig, sig), 0)
    return Parts(sig, exp, kind, negative)


def _kinds(operand: Format, field: Ints, negative: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    kind = np.zeros(field.shape, np.uint8)
    largest = operand.max_finite >> operand.pad_bits
    kind[field > largest] = NAN
    if operand.infinity is not None:
        kind[field == largest + 1] = INFINITE
    if operand.nan == operand.sign_bit:
        kind[(field == 0) & negative] = NAN
    return kind


def value_of(operand: Format, codes: Codes) -> Floats:
    """Codes as doubles, which hold every finite number of every format; NaN for infinities and NaN."""
    split = parts(operand, codes)
    return np.where(split.kind == FINITE, np.ldexp(split.sig.astype(np.float64), split.exp), np.nan)


LIMB_BITS = 16
"""Bits of a limb, which is one place in a sum."""

PIECE_BITS = 22
"""Bits of a term that are added at once. With their place in a limb they have at most 37 bits, so 2**15 of them sum to less
than 2**53."""

MAX_K = 1 << 14
"""Longest dot product (elements)."""

DOUBLE_BITS = 53

LEAST = 2.0**-1074
"""The smallest positive double. It replaces smaller remainders, so that a remainder is never taken for zero."""

WIDE = 27
"""Significands wider than this many bits (fp64) are split in two, so that products stay below 2**63."""

PLUS_INFINITY, MINUS_INFINITY, NOT_A_NUMBER = 1, 2, 3
"""Results that are not finite; 0 for a finite result."""


@dataclass(frozen=True)
class Exact:
    """Exact results of many rows, [rows] each: (hi + lo) · 2**lead.

    Attributes:
        hi: the nearest number of 53 bits, 1 ≤ |hi| ≤ 2; 0 where the sum is zero.
        lo: the first 53 bits of what it lacks, |lo| ≤ 2**−53; 0 only where it lacks nothing.
        lead: exponent of the leading bit (exponent value); 0 where the sum is zero.
        magnitude, magnitude_lead: hi and lead of |c| + Σ |α·β·a_k·b_k|.
        special: 0, `PLUS_INFINITY`, `MINUS_INFINITY` or `NOT_A_NUMBER`, in which cases the numbers mean nothing.
    """

    hi: Floats
    lo: Floats
    lead: npt.NDArray[np.int32]
    magnitude: Floats
    magnitude_lead: npt.NDArray[np.int32]
    special: npt.NDArray[np.uint8]

    def rows(self, index: slice | npt.NDArray[np.bool_]) -> "Exact":
        """The exact results of the rows that `index` selects."""
        return Exact(*(getattr(self, f.name)[index] for f in fields(self)))


def exact_results(shape: OperandShape, operands: Operands) -> Exact:
    """The exact results of rows.

    Raises:
        ValueError: more products than `MAX_K`.
    """
    if shape.K > MAX_K:
        raise ValueError(f"K must be at most {MAX_K} for exact results, got {shape.K}")
    given = _Decoded(shape, operands)
    terms = list(given.terms())
    hi, lo, lead = _normalised(*_sums(terms, given.rows))
    magnitude, _, magnitude_lead = _normalised(*_sums([(np.abs(sig), exp) for sig, exp in terms], given.rows))
    return Exact(hi, lo, lead, magnitude, magnitude_lead, given.special())


class _Decoded:
    """The operands of rows, decoded."""

    def __init__(self, shape: OperandShape, operands: Operands) -> None:
        self.shape = shape
        self.rows = len(operands.c)
        self.a, self.b = parts(shape.a, operands.a), parts(shape.b, operands.b)
        self.c = parts(shape.c, operands.c)
        self.scales: list[Parts] = []
        if shape.scale is not None and shape.block_size is not None:
            for codes in (operands.scale_a, operands.scale_b):
                assert codes is not None
                each = parts(shape.scale, np.repeat(codes, shape.block_size, axis=1)[:, : shape.K])
                self.scales.append(each)

    def terms(self) -> Iterator[tuple[Ints, Ints]]:
        """All that is added, as sig · 2**exp with |sig| below 2**63: c [rows, 1], and products or elements [rows, K]."""
        if self.shape.has_c:
            yield self.c.sig[:, None], self.c.exp[:, None]
        if self.shape.adds:
            yield from ((each.sig, each.exp) for each in (self.a, self.b))
            return
        exp = self.a.exp + self.b.exp
        x, y = self.a.sig, self.b.sig
        for scale in self.scales:
            x, exp = x * scale.sig, exp + scale.exp
        if max(self.shape.a.man_bits, self.shape.b.man_bits) < WIDE:
            yield x * y, exp
            return
        for p, at_p in _halves(x):
            for q, at_q in _halves(y):
                yield p * q, exp + (at_p + at_q)

    def special(self) -> npt.NDArray[np.uint8]:
        """The special result that each row's operands require (numerics.md, section 3)."""
        result = np.zeros(self.rows, np.uint8)
        columns = (self.a, self.b, self.c, *self.scales)
        if not any(column.kind.any() for column in columns):
            return result
        addends = [self.c] if self.shape.has_c else []
        factors = [self.a, self.b, *self.scales]
        if self.shape.adds:
            addends, factors = factors, []
        nan, plus, minus = (np.zeros(self.rows, bool) for _ in range(3))
        for column in addends:
            kind, negative = (each.reshape(self.rows, -1) for each in (column.kind, column.negative))
            nan |= (kind == NAN).any(axis=1)
            plus |= ((kind == INFINITE) & ~negative).any(axis=1)
            minus |= ((kind == INFINITE) & negative).any(axis=1)
        infinite = np.zeros(self.a.kind.shape, bool)
        zero = np.zeros(self.a.kind.shape, bool)
        negative = self.a.negative ^ self.b.negative
        for column in factors:
            nan |= (column.kind == NAN).any(axis=1)
            infinite |= column.kind == INFINITE
            zero |= (column.kind == 0) & (column.sig == 0)
        nan |= (infinite & zero).any(axis=1)
        plus |= (infinite & ~negative).any(axis=1)
        minus |= (infinite & negative).any(axis=1)
        result[plus] = PLUS_INFINITY
        result[minus] = MINUS_INFINITY
        result[nan | (plus & minus)] = NOT_A_NUMBER
        return result


def _halves(sig: Ints) -> list[tuple[Ints, int]]:
    """Signed significands as low and high halves, and the places of those (bits)."""
    magnitude, sign = np.abs(sig), np.sign(sig)
    return [(sign * (magnitude & ((1 << WIDE) - 1)), 0), (sign * (magnitude >> WIDE), WIDE)]


def _sums(terms: list[tuple[Ints, Ints]], rows: int) -> tuple[Ints, int]:
    """Limbs [limbs, rows], the lowest first, not yet carried; and the exponent of the lowest bit."""
    pieces = [piece for sig, exp in terms for piece in _pieces(sig, exp)]
    lows = [int(exp[sig != 0].min()) for sig, exp in pieces if sig.any()]
    highs = [int(exp[sig != 0].max()) for sig, exp in pieces if sig.any()]
    low = min(lows, default=0)
    # The highest piece and carries from MAX_K terms need 37 + 15 bits above the place of its limb, the sign one more.
    limbs = (max(highs, default=0) - low) // LIMB_BITS + 5
    total = np.zeros(limbs * rows, np.int64)
    row = np.arange(rows)[:, None]
    for sig, exp in pieces:
        above = np.where(sig == 0, 0, exp - low)
        shifted = np.ldexp(sig.astype(np.float64), above & (LIMB_BITS - 1))
        place = (above >> 4) * rows + row
        total += np.bincount(place.ravel(), weights=shifted.ravel(), minlength=len(total)).astype(np.int64)
    return total.reshape(limbs, rows), low


def _pieces(sig: Ints, exp: Ints) -> list[tuple[Ints, Ints]]:
    """Terms in pieces of `PIECE_BITS`, signed, with the exponents of their last bits."""
    largest = int(np.abs(sig).max(initial=0)).bit_length()
    if largest <= PIECE_BITS:
        return [(sig, exp)]
    magnitude, sign = np.abs(sig), np.sign(sig)
    mask = (1 << PIECE_BITS) - 1
    return [(sign * ((magnitude >> bit) & mask), exp + bit) for bit in range(0, largest, PIECE_BITS)]


def _normalised(limbs: Ints, low: int) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
    """hi, lo and lead of sums in limbs, which are overwritten."""
    _carry(limbs)
    negative = limbs[-1] < 0
    np.negative(limbs, out=limbs, where=negative)
    _carry(limbs)
    hi, lead = _leading(limbs)
    up = _subtract(limbs, lead - (DOUBLE_BITS - 1))
    rest, rest_lead = _leading(limbs)
    lo = np.where(rest == 0, 0, np.maximum(np.ldexp(rest, rest_lead - lead), LEAST))
    hi, lo = np.where(up, hi + 2.0 ** (1 - DOUBLE_BITS), hi), np.where(up, -lo, lo)
    sign = np.where(negative, -1.0, 1.0)
    return sign * hi, sign * lo, np.where(hi == 0, 0, low + lead).astype(np.int32)


def _subtract(limbs: Ints, place: Ints) -> npt.NDArray[np.bool_]:
    """Leave of carried limbs their distance from the nearest multiple of 2**place, a place for each row.

    Returns:
        Where that multiple is the next larger one.
    """
    # Of each limb the bits stay that lie below the place.
    below = place[None, :] - LIMB_BITS * np.arange(len(limbs))[:, None]
    limbs &= (1 << np.clip(below, 0, LIMB_BITS)) - 1
    half = np.maximum(place - 1, 0)
    row = np.arange(limbs.shape[1])
    up = np.asarray((place > 0) & ((limbs[half >> 4, row] >> (half & (LIMB_BITS - 1)) & 1) == 1))
    np.negative(limbs, out=limbs, where=up)
    limbs[place[up] >> 4, row[up]] += 1 << (place[up] & (LIMB_BITS - 1))
    _carry(limbs)
    return up


def _leading(limbs: Ints) -> tuple[Floats, Ints]:
    """The first 53 bits of carried limbs as a double from 1 to 2, and the place of the leading one; 0 of zeros."""
    count, rows = limbs.shape
    top = count - 1 - np.argmax(limbs[::-1] != 0, axis=0)  # 0 where all are
    padded = np.concatenate([np.zeros((4, rows), np.int64), limbs])
    window = np.take_along_axis(padded, top[None, :] + np.arange(4, -1, -1)[:, None], axis=0).astype(np.uint64)
    bits = np.frexp(window[0].astype(np.float64))[1]  # 1 … 16 of the highest limb, 0 of zeros
    word = window[0] << np.uint64(48) | window[1] << np.uint64(32) | window[2] << np.uint64(16) | window[3]
    word = word << (LIMB_BITS - bits).astype(np.uint64) | window[4] >> bits.astype(np.uint64)
    hi = np.ldexp((word >> np.uint64(64 - DOUBLE_BITS)).astype(np.float64), 1 - DOUBLE_BITS)
    return hi, LIMB_BITS * top + bits - 1


def _carry(limbs: Ints) -> None:
    """Bring all limbs but the highest into 0 … 2**16 − 1."""
    for place in range(len(limbs) - 1):
        limbs[place + 1] += limbs[place] >> LIMB_BITS
        limbs[place] &= (1 << LIMB_BITS) - 1
