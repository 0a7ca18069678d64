"""Operands and results of other widths than the unit's: no c, a c of fewer bits, a d in fixed point.

`OperandWidths` says which of them a design has. `FixedPointProducts` are rows whose results are fixed-point numbers: sums of
exact values, rounded once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np

from cosim.bench.assumed import ALL, Assumed
from cosim.bench.comparison_rules import Judge
from cosim.bench.products import Bits, DotProducts
from golden import Cls, Format, Operation, Unit
from golden.arithmetic.formats import IntegerFormat
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arrays import BitArray
from golden.checks import check_int
from golden.stimulus import Operands, OperandShape

MOST_BITS = 512
"""Largest width of `FixedPoint`: more than the exact sum of products of fp16 or bf16 numbers."""


@dataclass(frozen=True)
class FixedPoint(Bits):
    """A fixed-point number in two's complement, in place of a `golden.Format`: a code represents its integer / 2**fraction.

    Attributes:
        width: bits, 1 to `MOST_BITS`. fraction: number of fraction bits among them.
    """

    fraction: int = 0

    def __post_init__(self) -> None:
        check_int("bits of a fixed-point number", self.width, 1, MOST_BITS)
        check_int("fraction bits of a fixed-point number", self.fraction, 0, MOST_BITS)

    def number(self, code: int) -> int:
        """The integer of a code."""
        return code - (1 << self.width) if code >> self.width - 1 else code

    def describe(self, code: int) -> str:
        """The code in hexadecimal and its value, in one line."""
        scale = f"·2^-{self.fraction}" if self.fraction else ""
        return f"{self} {code:#0{2 + -(-self.width // 4)}x} = {self.number(code):+d}{scale}"


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
        numbers = products.assumed.within(replace_specials(operands, products.formats, operation.c), products.kinds)
        stimulus = replace(products.stimulus, operands=numbers)
        counted = replace(products, stimulus=stimulus).counted
        expected = [fixed_result(operation, sum_of(operation, counted, row), fixed) for row in range(len(numbers.a))]
        named = (products.name, operation, stimulus, products.dot, expected, products.formats)
        return cls(
            *named, places=products.places, mask=products.mask, further=products.further, selected=products.selected,
            assumed=products.assumed, fixed=fixed,
        )  # fmt: skip

    @property
    def result(self) -> FixedPoint:  # type: ignore[override]
        """The format of d, a fixed-point number."""
        return self.fixed

    @property
    def has_model(self) -> bool:
        """False: coverage models exist only for floating-point results."""
        return False

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        return result == self.expected[row]

    def recomputed(self, row: int) -> int:
        """The row's result once more, from the values of its codes."""
        operands, (a, b) = self.counted, self.formats
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


@dataclass(frozen=True)
class OperandWidths:
    """The widths of c and d of a design, where they are not the unit's.

    Attributes:
        c_bits: bits of c, which is extended by its sign; 0 where the design has no c, which then is the zero that changes no
            result (`Operation.no_c`). None for the unit's c.
        assumed: the operands that the design must take.
        c_is_zero: whether a c that the design does not have is +0, as of an accumulator that was cleared.
        d: the fixed-point format of d; None for the unit's d.
    """

    c_bits: int | None = None
    d: FixedPoint | None = None
    c_is_zero: bool = False
    assumed: Assumed = ALL

    def no_c(self, operation: Operation) -> int:
        """The code of c where the design has none."""
        return 0 if self.c_is_zero else operation.no_c

    def shape_of(self, unit: Unit, K: int | None = None) -> OperandShape:
        """The shape of the stimulus of a unit over K products, or in one step: of a sum of several steps, or without c,
        products make the accumulators that corners need."""
        shape = OperandShape.of_operation(unit.operation) if K is None else OperandShape.of(unit, K)
        L = unit.operation.length
        step = L if unit.sums is None and shape.K % L == 0 else 0
        return replace(shape, step=step, has_c=shape.has_c and self.c_bits != 0)

    def check(self, operation: Operation) -> None:
        """Raise ValueError where the unit's operation has no such c or d."""
        if self.c_bits is not None and any(each.operand == "c" for each in self.assumed.operands):
            raise ValueError("[assume] c is for a design that takes the c of the unit, not for [operands] c")
        if self.c_bits and "c" not in operation.operands:
            raise ValueError(f"[operands] c must be left out: {operation.name} has no c")
        if self.c_bits and not (isinstance(operation.c, IntegerFormat) and self.c_bits < operation.c.width):
            raise ValueError(
                f"[operands] c has fewer bits only where it is an integer: of {operation.name} with c in {operation.c} "
                f'it must be "none" or have at most {operation.c.width - 1} bits, got {self.c_bits}'
            )
        if self.d is None:
            return
        if self.assumed.no_overflow:
            raise ValueError("[assume] no_overflow goes without a fixed-point d")
        structure = operation.structure
        fused = structure.is_exact_dot_product
        if not fused and not structure.is_integer:
            raise ValueError(
                f"[operands] d is a fixed-point number only of E-FDPA and IDPA, whose sums are exact; got {operation.name}"
            )
        if fused and (structure.flushed or getattr(operation, "overflow", None) == "by-mode"):
            raise ValueError('a fixed-point d goes without flush_inputs and overflow = "by-mode"')

    def taken(self, operands: Operands, operation: Operation, assumed: Assumed, formats: tuple[Format, Format]) -> Operands:
        """Operands that the design must take, in the place of all others. `formats`: of a and b."""
        within = assumed.within(operands, {"a": formats[0], "b": formats[1], "c": operation.c})
        return within._replace(c=self.restricted(within.c, operation))

    def settled(self, products: DotProducts, of_vector: int, seed: Sequence[int]) -> DotProducts:
        """The rows, with vectors that the design must take in the place of those whose results overflow.

        Raises:
            ValueError: every vector has a result that overflows.
        """
        if not products.assumed.no_overflow:
            return products
        is_taken = np.logical_and.reduce(products.is_taken.reshape(-1, of_vector), axis=1)
        if not is_taken.any():
            raise ValueError(
                "[assume] no_overflow leaves no operands: every result within the classes and exponents overflows"
            )
        order = np.arange(len(is_taken))
        order[~is_taken] = np.random.default_rng(seed).choice(np.flatnonzero(is_taken), int((~is_taken).sum()))
        return products.rows((order[:, None] * of_vector + np.arange(of_vector)).reshape(-1))

    def restricted(self, codes: BitArray, operation: Operation) -> BitArray:
        """Codes of c that the design can take: that of no c, or extended from their low bits."""
        if self.c_bits is None or "c" not in operation.operands:
            return codes
        if not self.c_bits:
            return np.full_like(codes, self.no_c(operation))
        sign = (1 << self.c_bits) >> 1
        wide = codes.astype(np.int64) & ((1 << self.c_bits) - 1)
        return (((wide ^ sign) - sign) & (operation.c.codes - 1)).astype(codes.dtype)


THE_UNITS = OperandWidths()
"""The widths of the unit itself."""
