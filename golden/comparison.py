"""Bit-for-bit comparison of results: the only place that decides when two NaNs are equal (numerics.md, section 3).

A result is a code of d, as a Python integer or as an array of NumPy or CuPy; everything here takes all three.
"""

from typing import Any

from golden.arithmetic.formats import Format
from golden.operations import Operation


def is_nan(codes: Any, result: Format) -> Any:
    """Whether codes of a result's format are NaN: a bool for an integer, an array of them for an array.

    Raises:
        ValueError: a format that no result has: one without infinities.
    """
    if result.infinity is None:
        raise ValueError(f"a result's format must have infinities, got {result}")
    sign = result.codes >> 1
    if isinstance(codes, int):
        return codes & (sign - 1) > result.infinity
    integer = codes.dtype.type  # a 64-bit mask as a Python integer would not do for every version of CuPy
    return codes & integer(sign - 1) > integer(result.infinity)


def differing(got: Any, expected: Any, operation: Operation) -> Any:
    """Whether results of an operation differ, bit for bit; any NaN equals any NaN if the operation does not fix its encoding
    (`Operation.nan_is_fixed`)."""
    differs = got != expected
    if operation.nan_is_fixed():
        return differs
    both_nan = is_nan(got, operation.d) & is_nan(expected, operation.d)
    return differs & (both_nan ^ True)  # ~ would make an integer of a bool
