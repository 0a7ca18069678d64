"""Comparison of results as bits, for NumPy and CuPy arrays alike."""

from typing import Any

from golden import Instruction
from golden.formats import Format


def any_nan_counts(instruction: Instruction) -> bool:
    """Whether any NaN equals any NaN: FP64 and AMD, whose NaN encodings are unmeasured (numerics.md, section 3)."""
    return instruction.d.name == "fp64" or instruction.arch.startswith("gfx")


def is_nan(codes: Any, result: Format) -> Any:
    """Where codes of an IEEE-style format are NaN."""
    infinity = result.infinity
    assert infinity is not None
    magnitude = codes & codes.dtype.type((result.codes >> 1) - 1)
    return magnitude > codes.dtype.type(infinity)


def differing(got: Any, expected: Any, instruction: Instruction) -> Any:
    """Where two arrays of d's codes differ, bit for bit but for NaN where any NaN counts."""
    differs = got != expected
    if any_nan_counts(instruction):
        differs &= ~(is_nan(got, instruction.d) & is_nan(expected, instruction.d))
    return differs
