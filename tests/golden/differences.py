"""Two columns of results, compared bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

FLOAT_OF_BITS = {"uint16": "float16", "uint32": "float32", "uint64": "float64"}
"""Results come as fp16, fp32 or fp64; this is how NumPy reads their bits."""

Bits = npt.NDArray[np.unsignedinteger[Any]]


def differing_rows(got: Bits, expected: Bits, any_nan: bool) -> npt.NDArray[np.intp]:
    """Rows whose bits differ; with `any_nan`, two NaNs of any encoding are equal."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    differs = got != expected
    if any_nan:
        as_float = FLOAT_OF_BITS[expected.dtype.name]
        differs &= ~(np.isnan(got.view(as_float)) & np.isnan(expected.view(as_float)))
    return np.flatnonzero(differs)


def first_difference(rows: npt.NDArray[np.intp], got: Bits, expected: Bits, describe: Callable[[int], str]) -> str:
    """A sentence for an assertion: how many rows differ, and the first of them, readable."""
    if not rows.size:
        return "no difference"
    row = int(rows[0])
    pair = f"got {describe(int(got[row]))}, expected {describe(int(expected[row]))}"
    return f"{rows.size} of {len(expected)} rows differ; row {row}: {pair}"
