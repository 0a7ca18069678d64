"""fp32 operands of instructions for narrower formats: rounded to the format, or split into several numbers of it."""

from typing import Any

import numpy as np

from golden.arithmetic.formats import BF16, FP32, TF32, Format
from golden.arrays import BitArray, contiguous, to_bits

CONVERSIONS = ("rne", "rna", "rz")
"""How an fp32 operand is rounded to tf32 or bf16: to nearest even, to nearest with ties away from zero, or cut."""

PASSES: dict[str, tuple[Format, tuple[tuple[int, int], ...]]] = {
    "tf32x3": (TF32, ((1, 0), (0, 1), (0, 0))),
    "bf16x3": (BF16, ((1, 0), (0, 1), (0, 0))),
    "bf16x6": (BF16, ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0))),
    "bf16x9": (BF16, ((2, 2), (1, 2), (2, 1), (1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0))),
}
"""Format of the parts of an fp32 number, and the products of a part of a and one of b, 0 the largest, in the order in which
Triton's F32DotTC.cpp takes them."""

DROPPED = {"tf32": 13, "bf16": 16}
"""Low bits of fp32 that each format does not hold."""


def rounded_codes(codes: BitArray, form: Format, conversion: str) -> BitArray:
    """Codes of fp32 rounded to a format, still codes of fp32; infinities and NaN stay."""
    low = DROPPED[form.name]
    mask = np.uint32(0xFFFFFFFF << low & 0xFFFFFFFF)
    half: Any = np.uint32(0)
    if conversion == "rne":
        half = np.uint32((1 << (low - 1)) - 1) + (codes >> np.uint32(low) & np.uint32(1))
    elif conversion == "rna":
        half = np.uint32(1 << (low - 1))
    is_finite = codes & np.uint32(0x7F800000) != 0x7F800000
    rounded: BitArray = np.where(is_finite, codes + half & mask, codes)
    return rounded


def operand(
    what: str, array: Any, form: Format, convert: str | None, passes: str | None, tile: int | None, is_b: bool
) -> BitArray:  # fmt: skip
    """The codes of an operand in the instruction's format, converted from fp32 where the order says so.

    Args:
        form: the instruction's format of it. convert, passes, tile: as of `GemmOrder`; tile is `pass_tile`.
        is_b: whether K is its first axis, as of B.

    Raises:
        TypeError, ValueError: a wrong dtype; infinities or NaN that are to be split.
    """
    if convert is None and passes is None:
        return to_bits(what, array, form)
    codes = to_bits(what, array, FP32)
    if passes is None:
        assert convert is not None
        return _as_format(rounded_codes(codes, form, convert), form)
    if (codes & np.uint32(0x7F800000) == 0x7F800000).any():
        raise ValueError(
            f"{what} must be finite for passes = {passes!r}: what kernels do with infinities and NaN is not modelled"
        )
    if codes.ndim != 2:
        return codes
    split_form, products = PASSES[passes]
    conversion = convert or ("rna" if split_form is TF32 else "rne")
    parts = _parts(codes, split_form, conversion, 1 + max(max(pair) for pair in products))
    rows = [part.T if is_b else part for part in parts]
    tile = tile or len(rows[0][0])
    padded = [np.pad(row, ((0, 0), (0, -row.shape[1] % tile))) for row in rows]
    M, K = padded[0].shape
    blocks = np.stack([padded[pair[is_b]].reshape(M, K // tile, tile) for pair in products], axis=2)
    joined = _as_format(blocks.reshape(M, -1), form)
    return contiguous(joined.T if is_b else joined)


def _parts(codes: BitArray, form: Format, conversion: str, count: int) -> list[BitArray]:
    """Numbers whose sum is near that of the codes: each is rounded from what is left; the last part of tf32 is what is left,
    which the instruction cuts."""
    left, parts = codes.view(np.float32), []
    for number in range(count):
        is_raw = form is TF32 and number == count - 1
        part = left.view(np.uint32) if is_raw else rounded_codes(left.view(np.uint32), form, conversion)
        parts.append(part)
        left = left - part.view(np.float32)
    return parts


def _as_format(codes: BitArray, form: Format) -> BitArray:
    return (codes >> np.uint32(16)).astype(np.uint16) if form is BF16 else codes
