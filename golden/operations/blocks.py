"""Rules for blocks of elements that share a scale."""

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import Format
from golden.checks import check_int
from golden.operations.base import MAX_LENGTH, format_of

MAX_SCALE_BITS = 32
"""Upper limit of a scale's width (bits)."""


def scale_of(value: Format | str) -> Format:
    """The format of scales that is given by itself or by its name in golden.

    Raises:
        ValueError: no floating-point format of at most `MAX_SCALE_BITS`.
    """
    scale = format_of("scale", value, None)
    if scale.width > MAX_SCALE_BITS or scale.pad_bits or isinstance(scale, CodedFormat):
        raise ValueError(f"scale must be a format with fields, at most {MAX_SCALE_BITS} bits and no padding, got {scale}")
    return scale


def check_block(K_block: int, L: int) -> None:
    """Check that a step covers whole blocks, or lies inside one."""
    check_int("K_block", K_block, 1, MAX_LENGTH)
    if K_block % L and L % K_block:
        raise ValueError(f"K_block must divide L or be a multiple of it; got K_block={K_block}, L={L}")
