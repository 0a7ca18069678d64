"""The expected results of a design: rows of a stimulus with their results, as elements of the vectors that are sent; results
in fixed point, and operands of other widths than the unit's, where the design has these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from cosim.bench.assumed import ALL, Assumed
from cosim.bench.comparison_rules import Judge
from golden import Cls, Format, Operation
from golden.arithmetic.formats import IntegerFormat
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arrays import BitArray
from golden.checks import check_int
from golden.comparison import differing
from golden.stimulus import Operands, Stimulus
from golden.units.controls import Source
from rtl.designs.ports import Echo


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
        return "1 bit" if self.width == 1 else f"{self.width} bits"


class Returned(Bits):
    """What an output returns: bits without any order."""

    def decode(self, code: int) -> Class:
        """One class for all codes."""
        return Class(Cls.NORMAL)


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


class Mask(NamedTuple):
    """The products that count: [rows, K], 1 where one does; and the port that says so."""

    port: str
    bits: npt.NDArray[Any]


@dataclass(frozen=True)
class DotProducts:
    """Rows of operands of one operation, or of a chain of it, and golden's results.

    Attributes:
        name: name that distinguishes these rows from others of the same vectors; empty where there are no others.
        operation: the operation, with the formats of scales, c and d.
        stimulus: operands, one dot product a row, those of idle products included.
        dot: golden's model, `Unit.dot` or `Instruction.dot`.
        expected: code of d of each row.
        formats: formats of a and b, which may differ from the formats that the operation multiplies.
        covered: the operation whose bins are counted, where it is another one: a design without c misses no bins of c.
        has_steps: whether the model is steps of the operation, and not a program of additions.
        places: the ports that operands come from, where these have other names. mask: the products that count, if not all.
        assumed: the operands that the design must take.
    """

    name: str
    operation: Operation
    stimulus: Stimulus
    dot: Callable[..., Any]
    expected: Sequence[int]
    formats: tuple[Format, Format]
    covered: Operation | None = None
    has_steps: bool = True
    places: Mapping[str, Source] = field(default_factory=dict)
    mask: Mask | None = None
    assumed: Assumed = ALL

    @cached_property
    def result(self) -> Format:
        """The format of d."""
        return self.operation.d

    @property
    def counted(self) -> Operands:
        """The operands with +0 · +0 in the place of each idle product, as the model takes them."""
        return self.stimulus.operands if self.mask is None else without_idle(self.stimulus.operands, self.mask.bits)

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""
        return self.stimulus.label

    @property
    def has_model(self) -> bool:
        """Whether the operation takes all rows, without conversion; only then is there a coverage model."""
        return self.has_steps and not self.assumed and self.formats == (self.operation.a, self.operation.b)

    @property
    def kinds(self) -> dict[str, Format]:
        """The formats of the operands and of d, by name."""
        every = {"a": self.formats[0], "b": self.formats[1], "c": self.operation.c, "d": self.operation.d}
        return {name: kind for name, kind in every.items() if name in (*self.operation.operands, "d")}

    @property
    def is_taken(self) -> npt.NDArray[np.bool_]:
        """Whether the design must take each row."""
        return self.assumed.takes(self.stimulus.operands, self.expected, self.kinds)

    def operands_of(self, rows: npt.NDArray[Any]) -> Operands:
        """The operands of the given rows that count."""
        return self.counted.rows(rows)

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
        operands, (a, b) = self.counted, self.formats
        elements = [each for each in (("a", operands.a, a), ("b", operands.b, b)) if each[0] in self.operation.operands]
        pairs = [(code, fmt) for _, codes, fmt in elements for code in codes[row].tolist()]
        c = [(int(operands.c[row]), self.operation.c)] if "c" in self.operation.operands else []
        return [*((int(code), fmt) for code, fmt in pairs), *c]

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """The codes of a row by operand: a, b, c and, where they exist, scale_a, scale_b and a mask."""
        named = [*self.stimulus.operands._asdict().items(), *([] if self.mask is None else [self.mask])]
        return {name: tuple(map(int, codes[row].reshape(-1).tolist())) for name, codes in named if codes is not None}

    def made_by(self, row: int) -> str:
        """The class or corner of the stimulus that the row is from, prefixed by the name of the rows."""
        return self._class_name(self.stimulus.names[int(self.stimulus.label[row])])

    def classes(self) -> list[str]:
        """Every class and corner of the stimulus, in its order."""
        return [self._class_name(name) for name in self.stimulus.names]

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the inputs, the result and the expected result: bits, sign, exponent and significand of each."""
        return self.inputs(row) + result_lines(result, self.expected[row], self.result)

    def inputs(self, row: int) -> list[str]:
        """The inputs of a row as lines of text."""
        operation, operands = self.operation, self.stimulus.operands
        a, b = self.formats
        vectors = [each for each in (("a", operands.a, a), ("b", operands.b, b)) if each[0] in operation.operands]
        if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
            scale = operation.scale_format
            vectors += [("scale_a", operands.scale_a, scale), ("scale_b", operands.scale_b, scale)]
        lines = [line for name, codes, kind in vectors for line in operand_lines(name, codes[row].tolist(), kind, True)]
        if self.mask is not None:
            lines = operand_lines(self.mask.port, self.mask.bits[row].tolist(), Bits(1), True) + lines
        has_c = "c" in operation.operands
        return lines + (operand_lines("c", [int(operands.c[row])], operation.c, False) if has_c else [])

    def rows(self, order: npt.NDArray[Any]) -> Self:
        """These rows, in this order."""
        mask = self.mask and self.mask._replace(bits=self.mask.bits[order])
        expected = [self.expected[row] for row in order.tolist()]
        return replace(self, stimulus=self.stimulus.rows(order), expected=expected, mask=mask)

    def alone(self, row: int) -> Self:
        """A copy of one row, so that the others need not stay in memory."""
        one = slice(row, row + 1)
        codes = [None if array is None else array[one].copy() for array in self.stimulus.operands]
        stimulus = Stimulus(Operands(*codes), self.label[one].copy(), self.stimulus.names)  # type: ignore[arg-type]
        mask = self.mask and self.mask._replace(bits=self.mask.bits[one].copy())
        return replace(self, stimulus=stimulus, expected=[self.expected[row]], mask=mask)

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""
        return int(self.dot(*self.counted.rows(slice(row, row + 1)), engine="reference")[0])

    def _class_name(self, name: str) -> str:
        return f"{self.name}: {name}" if self.name else name


def without_idle(operands: Operands, bits: npt.NDArray[Any]) -> Operands:
    """The operands with +0 · +0 in the place of each product whose bit is 0."""
    idle = bits == 0
    a, b = (np.where(idle, 0, codes).astype(codes.dtype) for codes in (operands.a, operands.b))
    return operands._replace(a=a, b=b)


@dataclass(frozen=True)
class Raised(Returned):
    """Exception flags, bit 0 first.

    Attributes:
        names: the name of each bit.
    """

    names: tuple[str, ...] = ()

    def describe(self, code: int) -> str:
        """The code and the names of the flags that are raised."""
        return f"{code:0{self.width}b} = {' '.join(self._set(code)) or 'none'}"

    def difference(self, got: int, expected: int) -> str:
        """The flags that are missing, and those that are raised though they must not be."""
        missing, surplus = self._set(expected & ~got), self._set(got & ~expected)
        parts = [f"without {' '.join(missing)}"] if missing else []
        return ", ".join([*parts, f"{' '.join(surplus)} too many"] if surplus else parts)

    def _set(self, code: int) -> list[str]:
        return [name for bit, name in enumerate(self.names) if code >> bit & 1]


@dataclass(frozen=True)
class EchoRows:
    """What an output must return, or the flags that it must raise, as a row: made where it does not.

    Attributes:
        of: the result with these flags, if they are flags.
    """

    echo: Echo
    sent: int
    of: "Element | None" = None

    @property
    def name(self) -> str:
        """Its name as rows, which no dot products have."""
        return f"flags {self.echo.name}" if self.echo.flags else f"{self.echo.name} returns {self.echo.port}"

    @property
    def result(self) -> Bits:
        """The format of the output."""
        return Raised(self.echo.width, self.echo.flags) if self.echo.flags else Returned(self.echo.width)

    @property
    def expected(self) -> Sequence[int]:
        """What was sent."""
        return [self.sent]

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes`."""
        return np.zeros(1, np.uint8)

    def codes_by_name(self, row: int) -> dict[str, tuple[int, ...]]:
        """What was sent, by port."""
        return {self.echo.port: (self.sent,)}

    def classes(self) -> list[str]:
        """The one class of these rows."""
        return [self.name]

    def made_by(self, row: int) -> str:
        """The class of the row."""
        return self.name

    def agrees(self, row: int, result: int | str, judge: Judge) -> bool:
        """Whether the output returned what was sent."""
        return result == self.sent

    def described(self, row: int, result: int | str) -> list[str]:
        """Describe the input and the output, one line each."""
        given = operand_lines(self.echo.port, [self.sent], self.result, False)
        if self.echo.flags:
            given = self.of.products.inputs(self.of.row) if self.of and isinstance(self.of.products, DotProducts) else []
        return given + result_lines(result, self.sent, self.result)

    def alone(self, row: int) -> "EchoRows":
        """The row itself."""
        return self

    def recomputed(self, row: int) -> int:
        """What was sent."""
        return self.sent


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
        numbers = products.assumed.within(replace_specials(operands, products.formats, operation.c), products.kinds)
        stimulus = replace(products.stimulus, operands=numbers)
        counted = replace(products, stimulus=stimulus).counted
        expected = [fixed_result(operation, sum_of(operation, counted, row), fixed) for row in range(len(numbers.a))]
        named = (products.name, operation, stimulus, products.dot, expected, products.formats)
        return cls(*named, places=products.places, mask=products.mask, assumed=products.assumed, fixed=fixed)

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
