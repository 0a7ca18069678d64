"""Units and numbers of these tests."""

from typing import Any

import numpy as np

import golden
from golden.operations.t_fdpa import TFDPA


def t_fdpa(**keys: Any) -> golden.Unit:
    """A T-FDPA unit, by default e4m3 in steps of 16 with 13 fraction bits."""
    defaults: dict[str, Any] = {"L": 16, "F": 13, "rho": "RZ-FP32", "e_zero": -133, "a": "e4m3", "b": "e4m3", "c": "fp32"}
    return golden.Unit(name="unit", operation=TFDPA(**{**defaults, **keys}))


HYBRID = t_fdpa(a="e5m2", b="e4m3")
"""With the wider range in the operand that gradients take."""


def code(operand: golden.Format, number: float) -> int:
    """The nearest code, by golden's own conversion; ties to even, the largest finite number beyond it."""
    if np.isnan(number):
        assert operand.nan is not None
        return operand.nan
    negative = bool(np.signbit(number))
    sign = operand.negative_zero if negative else 0
    if number == 0:
        return sign
    if np.isinf(number):
        return operand.max_finite | (1 << (operand.width - 1) if negative else 0)
    numerator, denominator = float(number).as_integer_ratio()
    return operand.encode_scaled(numerator, 1 - denominator.bit_length(), "RNE", "saturate")


def codes(operand: golden.Format, numbers: Any) -> Any:
    """The codes of an array of numbers."""
    flat = [code(operand, number) for number in np.asarray(numbers, np.float64).ravel().tolist()]
    return np.array(flat, f"uint{operand.storage_bits}").reshape(np.shape(numbers))
