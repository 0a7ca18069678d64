"""Fields and classes of many codes at once."""

from typing import Any

import numpy as np

from cosim.diagnosis.changed_model import Codes
from golden import Format

Mask = Any
"""An array of bool."""


def sign_bit(operand: Format) -> int:
    """The sign bit as a mask; 0 for a format without a sign."""
    return 1 << (operand.width - 1) if operand.signed else 0


def field(codes: Codes, operand: Format) -> Codes:
    """Exponent and mantissa, without sign and pad."""
    width = operand.exp_bits + operand.man_bits
    fields: Codes = codes >> operand.pad_bits & codes.dtype.type((1 << width) - 1)
    return fields


def is_zero(codes: Codes, operand: Format) -> Mask:
    """True for codes that are a zero of either sign; the NaN of fnuz formats, whose field is zero, is not."""
    zero = field(codes, operand) == 0
    if operand.specials == "fnuz":
        zero &= codes == 0
    return zero & operand.subnormals


def is_subnormal(codes: Codes, operand: Format) -> Mask:
    """True for codes that are subnormal numbers."""
    fields = field(codes, operand)
    return (fields != 0) & (fields < 1 << operand.man_bits) & operand.subnormals


def is_infinity(codes: Codes, operand: Format) -> Mask:
    """True for codes that are infinities."""
    if operand.infinity is None:
        return np.zeros(codes.shape, bool)
    return field(codes, operand) == operand.infinity >> operand.pad_bits


def is_nan(codes: Codes, operand: Format) -> Mask:
    """True for codes that are NaN."""
    if operand.specials == "ieee" and operand.infinity is not None:
        return field(codes, operand) > operand.infinity >> operand.pad_bits
    return (codes == operand.nan) if operand.nan is not None else np.zeros(codes.shape, bool)


def zeros_of_sign(codes: Codes, operand: Format) -> Codes:
    """A zero of each code's sign; +0 if the format has no −0."""
    zeros: Codes = codes & codes.dtype.type(operand.negative_zero)
    return zeros


def with_exponent_one(codes: Codes, operand: Format) -> Codes:
    """The code with a stored exponent of 0 replaced by 1: its hidden bit is set, its exponent value stays."""
    ones: Codes = codes | codes.dtype.type(1 << (operand.man_bits + operand.pad_bits))
    return ones
