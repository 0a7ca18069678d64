"""The expected results of a design: rows of a stimulus with their results, as elements of the vectors that are sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cosim.bench.comparison_rules import Judge
from golden import Cls, Format, Operation
from golden.arithmetic.formats import IntegerFormat
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arrays import BitArray
from golden.checks import check_int
from golden.comparison import differing
from golden.stimulus import Operands, Stimulus


class Sized(Protocol):
    """Anything with a width: a `golden.Format`, or `Bits`."""

    @property
    def width(self) -> int:
        """Number of bits of a code."""


def packed(codes: npt.NDArray[Any], operand: Sized) -> list[int]:
    """Pack codes [rows, elements]: one integer for each row."""
    rows, elements = codes.shape
    little_endian = np.ascontiguousarray(codes, codes.dtype.newbyteorder("<"))
    bits = np.unpackbits(little_endian.view(np.uint8).reshape(rows, elements, -1), axis=2, bitorder="little")
    lanes = np.packbits(bits[:, :, : operand.width].reshape(rows, -1), axis=1, bitorder="little")
    content, size = lanes.tobytes(), lanes.shape[1]
    return [int.from_bytes(content[at : at + size], "little") for at in range(0, len(content), size)]


MAX_BITS = 64
"""Largest width of `Bits`: codes are arrays of NumPy's integers."""


MOST_BITS = 512
"""Largest width of `FixedPoint`: more than the exact sum of products of fp16 or bf16 numbers."""


class Class(NamedTuple):
    """The class, ZERO or NORMAL, of a code that is not a floating-point number."""

    cls: Cls


@dataclass(frozen=True)
class Bits:
    """A format of codes that are not floating-point numbers (an integer, a mode, flags), in place of a `golden.Format`.

    Attributes:
        width: bits, 1 to 64.
    """

    width: int

    def __post_init__(self) -> None:
        check_int("width of Bits", self.width, 1, MAX_BITS)

    def decode(self, code: int) -> Class:
        """The class of a code, for coverage: ZERO or NORMAL."""
        return Class(Cls.NORMAL if code else Cls.ZERO)

    def describe(self, code: int) -> str:
        """The code in hexadecimal and as an unsigned integer, in one line."""
        return f"{self} {code:#0{2 + -(-self.width // 4)}x} = {code}"

    def __str__(self) -> str:
        return f"{self.width} bits"


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


class Rows(Protocol):
    """Rows of operands and their expected results: golden's `DotProducts`, or `UserRows` of a user's specification."""

    @property
    def name(self) -> str:
        """Name that distinguishes these rows from other rows of the same vectors; empty where there are no others."""

    @property
    def result(self) -> Format | Bits:
        """The format of the result."""

    @property
    def expected(self) -> Sequence[int]:
        """The code of the expected result of each row."""

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes that a row sends, by operand or by port."""

    def classes(self) -> list[str]:
        """Every class and corner of the stimulus, in its order."""

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that the row is from."""

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, agrees with the expected one."""

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result, one line each."""

    def alone(self, row: int) -> "Rows":
        """A copy of one row, so that the others need not stay in memory."""

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""


def heading(vector: int, place: str, made_by: str) -> str:
    """The first line: the number of the vector, the place of the element in the result, the class of the stimulus."""
    where = f"vector {vector}, {place}" if place else f"vector {vector}"
    return f"{where} ({made_by})"


def operand_lines(name: str, codes: Sequence[int], kind: Format | Bits, is_vector: bool) -> list[str]:
    """One line for each element of an operand: bits, sign, exponent and significand."""
    names = [f"{name}[{k}]" for k in range(len(codes))] if is_vector else [name]
    return [f"  {each:<8} {kind.describe(code)}" for each, code in zip(names, codes, strict=True)]


def result_lines(result: int | str, expected: int, kind: Format | Bits) -> list[str]:
    """The result and the expected result as lines of text."""
    return [f"  got      {described_result(result, kind)}", f"  expected {kind.describe(expected)}"]


def described_result(result: int | str, kind: Format | Bits) -> str:
    """Describe a result in one line; undefined bits are shown as they are."""
    return f"{kind} {result}: bits that are neither 0 nor 1" if isinstance(result, str) else kind.describe(result)


@dataclass(frozen=True)
class DotProducts:
    """Rows of operands of one operation, or of a chain of it, and golden's results.

    Attributes:
        name: name that distinguishes these rows from others of the same vectors; empty where there are no others.
        operation: the operation, with the formats of scales, c and d.
        stimulus: operands, one dot product a row.
        dot: golden's model, `Unit.dot` or `Instruction.dot`.
        expected: code of d of each row.
        formats: formats of a and b, which may differ from the formats that the operation multiplies.
    """

    name: str
    operation: Operation
    stimulus: Stimulus
    dot: Callable[..., Any]
    expected: Sequence[int]
    formats: tuple[Format, Format]

    @cached_property
    def result(self) -> Format:
        """The format of d."""
        return self.operation.d

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""
        return self.stimulus.label

    @property
    def has_model(self) -> bool:
        """Whether the operation takes the rows without conversion; only then is there a coverage model."""
        return self.formats == (self.operation.a, self.operation.b)

    def operands_of(self, rows: npt.NDArray[Any]) -> Operands:
        """The operands of the given rows."""
        return self.stimulus.operands.rows(rows)

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether a result, a code or undefined bits as text, agrees with golden's (numerics.md, section 3)."""
        if isinstance(result, str):
            return False
        expected = self.expected[row]
        if result == expected and judge.takes_the_unit:
            return True
        differs = bool(differing(result, expected, self.operation))
        return judge.agrees(result, expected, self.result, differs, lambda: self.codes(row))

    def codes(self, row: int) -> list[tuple[int, Format]]:
        """The codes of a row's operands but scales, each with its format."""
        operands, (a, b) = self.stimulus.operands, self.formats
        pairs = [(code, fmt) for codes, fmt in ((operands.a, a), (operands.b, b)) for code in codes[row].tolist()]
        c = [(int(operands.c[row]), self.operation.c)] if "c" in self.operation.operands else []
        return [*((int(code), fmt) for code, fmt in pairs), *c]

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes of a row by operand: a, b, c and, where scaled, scale_a and scale_b."""
        named = self.stimulus.operands._asdict().items()
        return {name: tuple(map(int, codes[row].reshape(-1).tolist())) for name, codes in named if codes is not None}

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that the row is from, prefixed by the name of the rows."""
        return self._class_name(self.stimulus.names[int(self.stimulus.label[row])])

    def classes(self) -> list[str]:
        """Every class and corner of the stimulus, in its order."""
        return [self._class_name(name) for name in self.stimulus.names]

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result: bits, sign, exponent and significand of each."""
        return self._inputs(row) + result_lines(result, self.expected[row], self.result)

    def _inputs(self, row: int) -> list[str]:
        """The inputs of a row as lines of text."""
        operation, operands = self.operation, self.stimulus.operands
        a, b = self.formats
        vectors = [("a", operands.a, a), ("b", operands.b, b)]
        if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
            scale = operation.scale_format
            vectors += [("scale_a", operands.scale_a, scale), ("scale_b", operands.scale_b, scale)]
        lines = [line for name, codes, kind in vectors for line in operand_lines(name, codes[row].tolist(), kind, True)]
        has_c = "c" in operation.operands
        return lines + (operand_lines("c", [int(operands.c[row])], operation.c, False) if has_c else [])

    def rows(self, order: npt.NDArray[Any]) -> "DotProducts":
        """These rows, in this order."""
        return replace(self, stimulus=self.stimulus.rows(order), expected=[self.expected[row] for row in order.tolist()])

    def alone(self, row: int) -> "DotProducts":
        """A copy of one row, so that the others need not stay in memory."""
        one = slice(row, row + 1)
        codes = [None if array is None else array[one].copy() for array in self.stimulus.operands]
        stimulus = Stimulus(Operands(*codes), self.label[one].copy(), self.stimulus.names)  # type: ignore[arg-type]
        return DotProducts(self.name, self.operation, stimulus, self.dot, [self.expected[row]], self.formats)

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""
        return int(self.dot(*self.stimulus.rows(slice(row, row + 1)).operands, engine="reference")[0])

    def _class_name(self, name: str) -> str:
        return f"{self.name}: {name}" if self.name else name


class Element(NamedTuple):
    """One element of a result: a dot product, or a row of a user's specification.

    Attributes:
        products, row: the rows that hold its operands and expected result, and its index there.
        place: its place in the result, as text; empty where a result is one element.
    """

    products: Rows
    row: int
    place: str = ""


class Vector(NamedTuple):
    """The stimulus of one result. A named tuple, because it is made in a third of the time of a dataclass.

    Attributes:
        transfers: value of each operand port, for each transfer into the design.
        elements: elements of the result, the first in the low bits of d.
        number: its number in the run, from 0, assigned by the scoreboard.
    """

    transfers: Sequence[Mapping[str, int]]
    elements: Sequence[Element]
    number: int = 0


@dataclass(frozen=True)
class Chunk:
    """Consecutive vectors of a run, and the rows that they are made of."""

    vectors: Sequence[Vector]
    products: Sequence[Rows]


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
        """The format of d, a fixed-point number."""
        return self.fixed

    @property
    def has_model(self) -> bool:
        """False: coverage models exist only for floating-point results."""
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


@dataclass(frozen=True)
class OperandWidths:
    """The widths of c and d of a design, where they are not the unit's.

    Attributes:
        c_bits: bits of c, which is extended by its sign; 0 where the design has no c, which then is the zero that changes no
            result (`Operation.no_c`). None for the unit's c.
        d: the fixed-point format of d; None for the unit's d.
    """

    c_bits: int | None = None
    d: FixedPoint | None = None

    def check(self, operation: Operation) -> None:
        """Raise ValueError where the unit's operation has no such c or d."""
        if self.c_bits and "c" not in operation.operands:
            raise ValueError(f"[operands] c must be left out: {operation.name} has no c")
        if self.c_bits and not (isinstance(operation.c, IntegerFormat) and self.c_bits < operation.c.width):
            raise ValueError(
                f"[operands] c has fewer bits only where it is an integer: of {operation.name} with c in {operation.c} "
                f'it must be "none" or have at most {operation.c.width - 1} bits, got {self.c_bits}'
            )
        if self.d is None:
            return
        structure = operation.structure
        fused = structure.is_exact_dot_product
        if not fused and not structure.is_integer:
            raise ValueError(
                f"[operands] d is a fixed-point number only of E-FDPA and IDPA, whose sums are exact; got {operation.name}"
            )
        if fused and (structure.flushed or getattr(operation, "overflow", None) == "by-mode"):
            raise ValueError('a fixed-point d goes without flush_inputs and overflow = "by-mode"')

    def restricted(self, codes: BitArray, operation: Operation) -> BitArray:
        """Codes of c that the design can take: that of no c, or extended from their low bits."""
        if self.c_bits is None or "c" not in operation.operands:
            return codes
        if not self.c_bits:
            return np.full_like(codes, operation.no_c)
        sign = (1 << self.c_bits) >> 1
        wide = codes.astype(np.int64) & ((1 << self.c_bits) - 1)
        return (((wide ^ sign) - sign) & (operation.c.codes - 1)).astype(codes.dtype)


THE_UNITS = OperandWidths()
"""The widths of the unit itself."""
