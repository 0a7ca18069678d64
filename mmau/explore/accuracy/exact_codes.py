"""Exact values of arrays of codes of any format, and numbers rounded to codes."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arrays import bits_dtype
from golden.formats import Format, IntegerFormat

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger[Any]]

FINITE, INFINITE, NAN = 0, 1, 2
"""Kinds of codes."""

TABLE_BITS = 16
"""Formats of at most this many bits are looked up in a table."""

INTEGER_SCALES = {1: 1, 4: 2, 8: 32, 32: 32**2}
"""Integer operands take numbers times this, by their width (bits), unsigned ones their magnitudes; int32, the accumulator,
as products of int8 are scaled."""


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
    sig = np.where(subnormal, mantissa, mantissa | (1 << operand.man_bits))
    exp = stored_exp + subnormal - operand.bias - operand.man_bits
    kind = _kinds(operand, field, negative)
    sig = np.where(kind == FINITE, np.where(negative, -sig, sig), 0)
    return Parts(sig, exp, kind, negative)


def _kinds(operand: Format, field: Ints, negative: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    kind = np.zeros(field.shape, np.uint8)
    top = (1 << (operand.exp_bits + operand.man_bits)) - 1
    match operand.specials:
        case "ieee":
            infinity = top >> operand.man_bits << operand.man_bits
            kind[field == infinity] = INFINITE
            kind[field > infinity] = NAN
        case "fn":
            kind[field == top] = NAN
        case "fnuz":
            kind[(field == 0) & negative] = NAN
    return kind


def rounded(values: Floats, operand: Format) -> Codes:
    """Codes of finite numbers, rounded to nearest, ties to even; larger magnitudes become the largest number."""
    if isinstance(operand, IntegerFormat):
        return _rounded_to_integers(values, operand)
    magnitude = np.abs(values) if operand.signed else np.maximum(values, 0)
    exp = np.where(magnitude == 0, operand.e_min, np.maximum(np.frexp(magnitude)[1] - 1, operand.e_min))
    steps = np.rint(np.ldexp(magnitude, operand.man_bits - exp)).astype(np.int64)
    # The hidden bit of a normal number adds one to the stored exponent, and so does a carry out of rounding.
    field = steps + ((exp.astype(np.int64) - operand.e_min) << operand.man_bits)
    field = np.minimum(field, operand.max_finite >> operand.pad_bits)
    codes = field.astype(np.uint64) << np.uint64(operand.pad_bits)
    negative = (values < 0) & ((field > 0) | bool(operand.negative_zero))
    codes |= (negative & operand.signed).astype(np.uint64) << np.uint64(operand.width - 1)
    return np.asarray(codes.astype(bits_dtype(operand)))


def _rounded_to_integers(values: Floats, operand: IntegerFormat) -> Codes:
    scaled = np.rint(values * INTEGER_SCALES[operand.width])
    if not operand.signed:
        scaled = np.abs(scaled)
    clipped = np.clip(scaled, operand.lowest, operand.max_finite).astype(np.int64) & (operand.codes - 1)
    codes: Codes = clipped.astype(bits_dtype(operand))
    return codes


def value_of(operand: Format, codes: Codes) -> Floats:
    """Codes as doubles, which hold every finite number of every format; NaN for infinities and NaN."""
    split = parts(operand, codes)
    return np.where(split.kind == FINITE, np.ldexp(split.sig.astype(np.float64), split.exp), np.nan)


def quantised(values: Floats, operand: Format, scale: Format, block_size: int) -> tuple[Codes, Codes]:
    """Elements and scales of numbers [rows, K]: codes [rows, K], and [rows, ⌈K/block_size⌉].

    A block's scale brings its largest number to the top of the elements' range: a power of two as OCP Microscaling 1.0
    (section 6.3) chooses it, or the quotient by the largest element rounded to the scale's format.
    """
    rows, K = values.shape
    blocks = -(-K // block_size)
    padded = np.zeros((rows, blocks * block_size))
    padded[:, :K] = np.abs(values)
    largest = padded.reshape(rows, blocks, block_size).max(axis=2)
    if scale.man_bits == 0:
        lead = np.frexp(largest)[1] - 1 - operand.e_max
        scales = np.clip(lead + scale.bias, 0, scale.max_finite).astype(bits_dtype(scale))
    else:
        top = float(operand.value(operand.max_finite) or 0)
        scales = np.maximum(rounded(largest / top, scale), 1)
    factor = np.repeat(value_of(scale, scales), block_size, axis=1)[:, :K]
    return rounded(values / factor, operand), scales
