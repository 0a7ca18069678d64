"""The values of a format's codes according to NumPy and ml_dtypes, an independent source for comparison."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from golden import Format

DTYPES: dict[str, type] = {
    "fp64": np.float64,
    "fp32": np.float32,
    "tf32": np.float32,
    "e8m13": np.float32,
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e4m3ieee": ml_dtypes.float8_e4m3,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,
}

DROPPED_BITS = {"tf32": 13, "e8m13": 10}
"""Low bits of an fp32 word that the format does not have."""


def floats(operand: Format, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The codes' values, infinities and NaNs, as float64, which holds every format exactly."""
    dropped = DROPPED_BITS.get(operand.name, 0)
    kept = codes >> dropped << dropped
    if operand.name == "ue4m3":
        kept = kept & 0x7F  # the sign bit is ignored
    with np.errstate(invalid="ignore"):  # conversions of signalling NaNs
        return kept.astype(f"uint{operand.storage_bits}").view(DTYPES[operand.name]).astype(np.float64)


def magnitude(operand: Format, index: int) -> Fraction:
    """The value of the index-th non-negative code, counted from zero upward (exact)."""
    code = np.array([index << DROPPED_BITS.get(operand.name, 0)], np.uint64)
    return Fraction(float(floats(operand, code)[0]))


def last_magnitude(operand: Format) -> int:
    """The index of the largest finite value: the last before the infinities, NaNs or the sign bit."""
    bits = operand.exp_bits + operand.man_bits
    reserved = {"ieee": 1 << operand.man_bits, "fn": 1, "fnuz": 0, "finite": 0}[operand.specials]
    return (1 << bits) - reserved - 1


def cast(operand: Format, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The codes that the peer's own conversion (nearest, ties to even) gives."""
    with np.errstate(all="ignore"):
        return values.astype(DTYPES[operand.name]).view(f"uint{operand.storage_bits}")
