"""Orders of numbers and of codes, for monotonicity and symmetry."""

from fractions import Fraction

from golden.formats import Cls, Format


def next_up(code: int, operand: Format) -> int | None:
    """The code of the next larger finite number; None where there is none, or the format has no sign. Both zeros are
    followed by the smallest positive number."""
    x = operand.decode(code)
    if x.cls >= Cls.INFINITY or not operand.signed:
        return None
    step = 1 << operand.pad_bits
    magnitude = code & ~(operand.negative_zero or 1 << (operand.width - 1)) & ~(step - 1)
    if x.sign and x.cls is not Cls.ZERO:
        lower = magnitude - step
        return lower and lower | (operand.negative_zero or 1 << (operand.width - 1))
    return magnitude + step if magnitude < operand.max_finite else None


def number_of(code: int, operand: Format) -> Fraction | float | None:
    """A result as a number for comparisons, infinities as floats; None for NaN."""
    x = operand.decode(code)
    if x.cls is Cls.NAN:
        return None
    if x.cls is Cls.INFINITY:
        return float("-inf") if x.sign else float("inf")
    return operand.value(code)


def negated(code: int, operand: Format) -> int:
    """The code of the negative number; NaN, and zero in a format without −0, stay unchanged."""
    cls = operand.decode(code).cls
    if cls is Cls.NAN or (cls is Cls.ZERO and not operand.negative_zero):
        return code
    return code ^ (operand.negative_zero or 1 << (operand.width - 1))
