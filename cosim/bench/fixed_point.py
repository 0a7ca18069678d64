"""Dot products whose result is a fixed-point number: the exact sum, rounded once to its last place."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np

from cosim.bench.comparison_rules import Judge
from cosim.bench.products import DotProducts
from cosim.bench.specified_rows import FixedPoint
from golden import Cls, Format, Operation
from golden.arrays import BitArray
from golden.rounding import Mode, shift_and_round
from golden.stimulus import Operands


@dataclass(frozen=True)
class FixedPointProducts(DotProducts):
    """Dot products of finite operands, with the results as fixed-point numbers.

    Attributes:
        fixed: the format of d.
    """

    fixed: FixedPoint = field(kw_only=True)

    @classmethod
    def of(cls, products: DotProducts, fixed: FixedPoint) -> "FixedPointProducts":
        """The dot products with other results, infinities and NaNs replaced by finite numbers."""
        operation, operands = products.operation, products.stimulus.operands
        numbers = replace_specials(operands, products.formats, operation.c)
        stimulus = replace(products.stimulus, operands=numbers)
        expected = [fixed_result(operation, sum_of(operation, numbers, row), fixed) for row in range(len(numbers.a))]
        named = (products.name, operation, stimulus, products.dot, expected, products.formats)
        return cls(*named, fixed=fixed)

    @property
    def result(self) -> FixedPoint:  # type: ignore[override]
        """The format of d."""
        return self.fixed

    @property
    def has_model(self) -> bool:
        """False: the coverage models are those of floating-point results."""
        return False

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        return result == self.expected[row]

    def alone(self, row: int) -> "FixedPointProducts":
        one = super().alone(row)
        named = (one.name, one.operation, one.stimulus, one.dot, one.expected, one.formats)
        return FixedPointProducts(*named, fixed=self.fixed)

    def recomputed(self, row: int) -> int:
        """The row's result once more, from the values of its codes."""
        operands, (a, b) = self.stimulus.operands, self.formats
        pairs = zip(operands.a[row].tolist(), operands.b[row].tolist(), strict=True)
        total = value_of(self.operation.c, int(operands.c[row])) + sum(value_of(a, x) * value_of(b, y) for x, y in pairs)
        return fixed_result(self.operation, total, self.fixed)


def value_of(operand: Format, code: int) -> Fraction:
    """The value of a finite code."""
    value = operand.value(code)
    assert value is not None
    return value


def replace_specials(operands: Operands, formats: tuple[Format, Format], c: Format) -> Operands:
    """The operands with a finite number in place of each infinity and NaN, for which there is no fixed-point number."""
    a, b = formats
    return operands._replace(a=finite(operands.a, a), b=finite(operands.b, b), c=finite(operands.c, c))


def finite(codes: BitArray, operand: Format) -> BitArray:
    """The codes, without the lowest bit of the exponent where they are infinity or NaN; 0 where that is still a NaN."""
    distinct, places = np.unique(codes, return_inverse=True)
    chosen = [_finite(operand, code) for code in distinct.tolist()]
    return np.array(chosen, codes.dtype)[places].reshape(codes.shape)


def _finite(operand: Format, code: int) -> int:
    without = code & ~(1 << operand.man_bits + operand.pad_bits)
    return next((each for each in (code, without) if operand.decode(each).cls < Cls.INFINITY), 0)


def sum_of(operation: Operation, operands: Operands, row: int) -> Fraction:
    """The exact sum of a row, c included."""
    value, other = _scaled(operation.a), _scaled(operation.b)
    pairs = zip(operands.a[row].tolist(), operands.b[row].tolist(), strict=True)
    products = sum(value(x) * other(y) for x, y in pairs)
    unit = _last_place(operation.a) + _last_place(operation.b)
    return _times(products, unit) + _times(_scaled(operation.c)(int(operands.c[row])), _last_place(operation.c))


def _times(count: int, exp: int) -> Fraction:
    return Fraction(count << exp) if exp >= 0 else Fraction(count, 1 << -exp)


def _last_place(operand: Format) -> int:
    """The exponent of the last bit of the smallest number."""
    return operand.e_min - operand.man_bits


@cache
def _scaled(operand: Format) -> Callable[[int], int]:
    """The integer that a code is in units of the last place of the smallest number."""

    @cache
    def scaled(code: int) -> int:
        sign, exp, sig, _ = operand.decode(code)
        return (-sig if sign else sig) << (exp - operand.e_min)

    return scaled


def fixed_result(operation: Operation, total: Fraction, d: FixedPoint) -> int:
    """The code of an exact sum: rounded in the mode of ρ, toward zero for integers; beyond the range the nearest end with
    overflow = "saturate", else its low bits."""
    rho = operation.structure.rho
    mode: Mode = "RZ" if rho is None else rho.mode
    scaled = total * (1 << d.fraction)
    exp = scaled.denominator.bit_length() - 1  # a power of two, as all values are binary
    rounded = shift_and_round(scaled.numerator, exp, mode)
    if getattr(operation, "overflow", None) == "saturate":
        rounded = max(-(1 << d.width - 1), min(rounded, (1 << d.width - 1) - 1))
    return rounded % (1 << d.width)


def with_fixed_results(products: DotProducts, d: FixedPoint | None) -> DotProducts:
    """The dot products with fixed-point results, where the design has them."""
    return products if d is None else FixedPointProducts.of(products, d)
