"""Operands of products, drawn from a seed by arithmetic that NumPy, PyTorch and CuPy compute equally."""

from typing import Any

import golden

SPREAD = 3
"""Exponents of random operands are from −SPREAD to SPREAD."""


def codes(name: str, stream: int, index: Any) -> Any:
    """Codes of a format at places of a matrix: a sign, an exponent from −SPREAD to SPREAD, any mantissa; of int8 any number.

    Args:
        name: name of the format. stream: number of the matrix. index: int64 of the places, NumPy's array or PyTorch's
            tensor.

    Returns:
        int64 of the same kind: the same codes in NumPy as on a GPU.
    """
    first, second, third = (_draw(index, 3 * stream + part) for part in range(3))
    if name == "int8":
        return first & 0xFF
    form = golden.FORMATS[name]
    mantissa = (second | (third & 0xFFFFF) << 32) & ((1 << form.man_bits) - 1)
    exponent = (first >> 8) % (2 * SPREAD + 1) + (form.bias - SPREAD)
    return ((first & 1) << form.exp_bits | exponent) << form.man_bits | mantissa


def _draw(index: Any, stream: int) -> Any:
    """32 bits that look random, of every index: the finaliser of MurmurHash3 by A. Appleby, of a multiple of the index."""
    x = (index * 0x9E3779B1 + (stream + 1) * 0x85EBCA77) & _MASK
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _MASK
    return x ^ (x >> 16)


_MASK = 0xFFFFFFFF

A, B, C, SCALE_A, SCALE_B = range(5)
"""Number of each matrix, as argument `stream` of `codes`."""

STREAMS = 5
