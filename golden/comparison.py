"""Bit-for-bit comparison of results: the only place that decides when two NaNs are equal (numerics.md, section 3).

A result is a code of d, as a Python integer or as an array of NumPy or CuPy; everything here takes all three.
"""

from typing import Any

from golden.arithmetic.formats import Format
from golden.operations import Operation


def is_nan(codes: Any, result: Format) -> Any:
    """Whether codes of a format are NaN: a bool for an integer, an array of them for an array."""
    integer = int if isinstance(codes, int) else codes.dtype.type  # CuPy: a mask of 64 bits must not be a Python integer
    if result.nan is None:
        return codes != codes  # False, in the kind of the codes
    if result.nan == result.sign_bit:  # the code of −0
        return codes == integer(result.nan)
    last = result.max_finite if result.infinity is None else result.infinity
    magnitude = codes & integer(result.magnitude_mask)
    return magnitude >= integer(last + (1 << result.pad_bits))


def differing(got: Any, expected: Any, operation: Operation) -> Any:
    """Whether results of an operation differ, bit for bit; any NaN equals any NaN if the operation does not fix its encoding
    (`Operation.nan_is_fixed`)."""
    differs = got != expected
    if operation.nan_is_fixed():
        return differs
    both_nan = is_nan(got, operation.d) & is_nan(expected, operation.d)
    return differs & (both_nan ^ True)  # ~ would make an integer of a bool
