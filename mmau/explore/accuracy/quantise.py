"""Real numbers as codes of a format: rounded, and scaled by tensors, rows or blocks before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from golden.arithmetic.coded_format import CodedFormat, IntegerElement
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import bits_dtype
from golden.checks import check_choice, listed, unknown
from mmau.explore.accuracy.exact_sums import Codes, Floats, value_of

INTEGER_FACTORS = {1: 1, 4: 2, 8: 32, 32: 32**2}
"""Factor by which numbers are multiplied that become integers, by their width (bits); unsigned formats take magnitudes.
int32, the accumulator, has the factor of a product of int8."""

ROUNDINGS = ("RNE", "RNA", "RZ", "RD", "RU", "stochastic")

SCALES_FROM = ("amax", "percentile", "mse")

TENSOR, ROW = "tensor", "row"
"""What shares a factor: all rows that are drawn together (at most 2^18 elements), or one row."""

NARROW = 8
"""Widest elements (bits) that factors are for: those of wider formats are numbers near 1 with room on both sides."""


@dataclass(frozen=True, kw_only=True)
class Quantiser:
    """How the numbers of a workload become elements.

    Attributes:
        scale_per: what shares a real factor besides the scales of blocks: `TENSOR`, `ROW`, or None for no factor.
        scale_from: what chooses factors and the scales of blocks: the largest magnitude ("amax"), a percentile of the
            magnitudes ("percentile"; larger ones become the largest number), or the least sum of squared errors ("mse").
        percentile: that percentile (0 to 100).
        rounding: of elements, one of `ROUNDINGS`. Scales are rounded to nearest.
    """

    scale_per: str | None = None
    scale_from: str = "amax"
    percentile: float = 99.9
    rounding: str = "RNE"


PLAIN = Quantiser()
"""No factor, the largest magnitude of each block, nearest even."""


def check_quantiser(given: Any) -> Quantiser:
    """The quantiser of a table.

    Raises:
        TypeError, ValueError: no table, an unknown key, or a value out of range.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"quantise must be a table, got {given!r}")
    known = [f.name for f in fields(Quantiser)]
    for key in given:
        if key not in known:
            raise ValueError(unknown("key of quantise", key, known))
    for key, choices in {"scale_per": (TENSOR, ROW), "scale_from": SCALES_FROM, "rounding": ROUNDINGS}.items():
        if key in given:
            check_choice(f"quantise: {key}", given[key], choices)
    percentile = given.get("percentile", 99.9)
    if isinstance(percentile, bool) or not isinstance(percentile, (int, float)) or not 0 < percentile <= 100:
        raise ValueError(f"quantise: percentile must be a number above 0, and at most 100; got {percentile!r}")
    if "percentile" in given and given.get("scale_from") != "percentile":
        raise ValueError(f'quantise: percentile goes with scale_from = "percentile", got {listed(map(repr, given))}')
    return Quantiser(**{**given, "percentile": float(percentile)})


def before_rounding(values: Floats, operand: Format) -> Floats:
    """The numbers that elements of a format stand for: integers have a factor, unsigned ones take magnitudes."""
    if not isinstance(operand, IntegerFormat):
        return values
    scaled = values * INTEGER_FACTORS[operand.width]
    return scaled if operand.signed else np.abs(scaled)


def rounded(values: Floats, operand: Format, rounding: str = "RNE", rng: np.random.Generator | None = None) -> Codes:
    """Codes of finite numbers; larger magnitudes become the largest number.

    Args:
        rounding: one of `ROUNDINGS`. rng: the random numbers of stochastic rounding.
    """
    if isinstance(operand, IntegerElement):
        return rounded(np.ldexp(values, operand.integer.fraction), operand.integer, rounding, rng)
    if isinstance(operand, CodedFormat):
        raise ValueError(f"numbers are not rounded to a format by table, got {operand}: give operands in a file")
    if isinstance(operand, IntegerFormat):
        whole = _whole(np.abs(values), values < 0, rounding, rng)
        clipped = np.clip(np.where(values < 0, -whole, whole), operand.lowest, operand.max_finite).astype(np.int64)
        return np.asarray((clipped & (operand.codes - 1)).astype(bits_dtype(operand)))
    magnitude = np.abs(values) if operand.signed else np.maximum(values, 0)
    exp = np.where(magnitude == 0, operand.e_min, np.maximum(np.frexp(magnitude)[1] - 1, operand.e_min))
    steps = _whole(np.ldexp(magnitude, operand.man_bits - exp), values < 0, rounding, rng).astype(np.int64)
    # The hidden bit of a normal number adds one to the stored exponent, and so does a carry out of rounding.
    hidden = (
        0 if operand.subnormals else 1 << operand.man_bits
    )  # without subnormals, what is below the normal numbers is zero
    field = np.maximum(steps + ((exp.astype(np.int64) - operand.e_min) << operand.man_bits) - hidden, 0)
    field = np.minimum(field, operand.max_finite >> operand.pad_bits)
    codes = field.astype(np.uint64) << np.uint64(operand.pad_bits)
    negative = (values < 0) & ((field > 0) | bool(operand.negative_zero))
    codes |= (negative & operand.signed).astype(np.uint64) << np.uint64(operand.width - 1)
    return np.asarray(codes.astype(bits_dtype(operand)))


def _whole(magnitude: Floats, negative: Any, rounding: str, rng: np.random.Generator | None) -> Floats:
    """Magnitudes as whole numbers."""
    below = np.floor(magnitude)
    rest = magnitude - below
    match rounding:
        case "RNE":
            return np.asarray(np.rint(magnitude))
        case "RNA":
            return below + (rest >= 0.5)
        case "RD":
            return np.asarray(below + (negative & (rest > 0)))
        case "RU":
            return np.asarray(below + (~negative & (rest > 0)))
        case "stochastic":
            assert rng is not None
            return below + (rng.random(rest.shape) < rest)
        case _:
            return below


def factors(values: Floats, operand: Format, scale: Format | None, block_size: int | None, how: Quantiser) -> Floats:
    """The factor of each row, [rows, 1], by which numbers are divided before blocks are scaled and elements rounded.

    It brings the largest number to the top of the elements' range, and of the scales' range where these have a fraction:
    scales that are powers of two reach every number. 1 where the quantiser has no factor, or elements are wide.
    """
    ones = np.ones((len(values), 1))
    if how.scale_per is None or operand.width > NARROW or (scale is not None and scale.man_bits == 0):
        return ones
    pool = values if how.scale_per == ROW else values.reshape(1, -1)
    top = _largest(operand) * (1.0 if scale is None else _largest(scale))
    start = _top(np.abs(pool), how)[:, None] / top
    start = np.where(start == 0, 1.0, start)
    if how.scale_from != "mse":
        return ones * start

    def error(factor: Floats) -> Floats:
        if scale is None or block_size is None:
            reached = value_of(operand, rounded(pool / factor, operand))
        else:
            codes, scales = blocked((pool / factor).reshape(values.shape), operand, scale, block_size, how)
            each = np.repeat(value_of(scale, scales), block_size, axis=1)[:, : codes.shape[1]]
            reached = (value_of(operand, codes) * each).reshape(pool.shape)
        return np.asarray(((reached * factor - pool) ** 2).sum(axis=1, keepdims=True))

    return ones * _best([start * shrunk for shrunk in SHRUNK], error)


SHRUNK = tuple(1 - step / 40 for step in range(29))
"""What "mse" tries of a tensor's or row's factor: from all of its numbers in range, to 0.3 of the largest one."""


def _largest(operand: Format) -> float:
    return float(operand.value(operand.max_finite) or 0)


def _top(magnitude: Floats, how: Quantiser) -> Floats:
    """The magnitude that a factor or scale brings to the top, of those on the last axis; "mse" starts from it."""
    if how.scale_from == "percentile":
        return np.asarray(np.percentile(magnitude, how.percentile, axis=-1))
    return np.asarray(np.max(magnitude, axis=-1))


def _best(tried: list[Floats], error: Callable[[Floats], Floats]) -> Floats:
    """Place by place the candidate with the least error, the first of several."""
    errors = np.array([error(each) for each in tried])
    return np.asarray(np.take_along_axis(np.array(tried), np.argmin(errors, axis=0)[None], axis=0)[0])


def blocked(
    values: Floats,
    operand: Format,
    scale: Format,
    block_size: int,
    how: Quantiser,
    rng: np.random.Generator | None = None,
) -> tuple[Codes, Codes]:
    """Elements and scales of numbers [rows, K]: codes [rows, K], and [rows, ⌈K/block_size⌉].

    A block's scale brings its largest number to the top of the elements' range: a power of two as OCP Microscaling 1.0
    (section 6.3) chooses it, or the quotient by the largest element rounded to the scale's format.
    """
    rows, K = values.shape
    blocks = -(-K // block_size)
    padded = np.zeros((rows, blocks * block_size))
    padded[:, :K] = values
    of_blocks = padded.reshape(rows, blocks, block_size)
    top = _top(np.abs(of_blocks), how)
    if scale.man_bits == 0:
        lead = np.frexp(top)[1] - 1 - operand.e_max
        scales = np.clip(lead + scale.bias, 0, scale.max_finite).astype(bits_dtype(scale))
    else:
        scales = np.maximum(rounded(top / _largest(operand), scale), 1)
    if how.scale_from == "mse":
        steps = range(-2, 3) if scale.man_bits == 0 else range(-6, 4)
        tried = [np.clip(scales.astype(np.int64) + step, int(scale.man_bits > 0), scale.max_finite) for step in steps]

        def error(codes: Any) -> Floats:
            factor = value_of(scale, codes.astype(scales.dtype))[:, :, None]
            reached = value_of(operand, rounded(of_blocks / factor, operand)) * factor
            return np.asarray(((reached - of_blocks) ** 2).sum(axis=-1))

        scales = _best(tried, error).astype(scales.dtype)
    factor = np.repeat(value_of(scale, scales), block_size, axis=1)[:, :K]
    return rounded(values / factor, operand, how.rounding, rng), scales
