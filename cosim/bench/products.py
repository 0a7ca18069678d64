"""The expected results of a design: rows of a stimulus with their results, as elements of the vectors that are sent.

`DotProducts` are the rows of a unit, with the results of a model; `Vector`, `Element` and `Chunk` say which row is where in
which transfer. The lines of operands and results in messages are made here too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from cosim.bench.assumed import ALL, Assumed
from cosim.bench.comparison_rules import Judge
from golden import Cls, Format, Operation
from golden.checks import check_int
from golden.comparison import differing
from golden.stimulus import Operands, Stimulus
from golden.units.controls import Source
from golden.units.selection import CODE_BITS, scattered
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


class Further(NamedTuple):
    """What the model takes beside operands and scales, as the argument of that name: random bits, [rows], or zero points,
    [rows, blocks]; and the port that has them, each of so many bits."""

    argument: str
    port: str
    codes: npt.NDArray[Any]
    width: int

    def rows(self, order: npt.NDArray[Any] | slice) -> Self:
        """Those of rows, in this order."""
        return self._replace(codes=self.codes[order].copy())


class Selected(NamedTuple):
    """The metadata of each row, [rows, K/2], and the port that has them; and the elements of b at all places, [rows, 2K], of
    which those that the metadata select are the row's own."""

    port: str
    codes: npt.NDArray[Any]
    others: npt.NDArray[Any]

    def rows(self, order: npt.NDArray[Any] | slice) -> Self:
        """Those of rows, in this order."""
        return self._replace(codes=self.codes[order].copy(), others=self.others[order].copy())


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
        assumed: the operands that the design must take. further: random bits or zero points, if the model takes them.
        selected: metadata that select b of the stimulus from a longer one, if the design takes such.
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
    further: tuple[Further, ...] = ()
    selected: Selected | None = None

    @cached_property
    def result(self) -> Format:
        """The format of d."""
        return self.operation.d

    @property
    def counted(self) -> Operands:
        """The operands with +0 · +0 in the place of each idle product, as the model takes them."""
        return self.stimulus.operands if self.mask is None else without_idle(self.stimulus.operands, self.mask.bits)

    @property
    def sent(self) -> Operands:
        """The operands as they are sent: b with the elements that are not selected."""
        operands, selected = self.stimulus.operands, self.selected
        if selected is None:
            return operands
        return operands._replace(b=scattered(operands.b, selected.others, selected.codes))

    @property
    def label(self) -> npt.NDArray[Any]:
        """The index into `classes` of each row's class."""
        return self.stimulus.label

    @property
    def has_model(self) -> bool:
        """Whether the operation takes all rows, without conversion, and the library computes it; only then is there a
        coverage model."""
        takes_all = self.has_steps and not self.assumed and self.formats == (self.operation.a, self.operation.b)
        return takes_all and self.operation.is_native

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
        """The codes of a row by operand: a, b, c and, where they exist, scales and what inputs of [controls] hold."""
        named = [*self.stimulus.operands._asdict().items(), *([] if self.mask is None else [self.mask])]
        named += [(each.port, each.codes) for each in self.further]
        named += [] if self.selected is None else [(self.selected.port, self.selected.codes)]
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
        operation, operands = self.operation, self.sent
        a, b = self.formats
        vectors = [each for each in (("a", operands.a, a), ("b", operands.b, b)) if each[0] in operation.operands]
        scale, every = operation.scale_format, operands._asdict()
        vectors += [(name, every[name], scale) for name in operation.scale_operands if scale is not None]
        lines = [line for name, codes, kind in vectors for line in operand_lines(name, codes[row].tolist(), kind, True)]
        if self.mask is not None:
            lines = operand_lines(self.mask.port, self.mask.bits[row].tolist(), Bits(1), True) + lines
        if self.selected is not None:
            lines = operand_lines(self.selected.port, self.selected.codes[row].tolist(), Bits(CODE_BITS), True) + lines
        for each in self.further:
            codes = each.codes[row].reshape(-1).tolist()
            lines = operand_lines(each.port, codes, Bits(each.width), each.codes.ndim > 1) + lines
        has_c = "c" in operation.operands
        return lines + (operand_lines("c", [int(operands.c[row])], operation.c, False) if has_c else [])

    def rows(self, order: npt.NDArray[Any]) -> Self:
        """These rows, in this order."""
        mask = self.mask and self.mask._replace(bits=self.mask.bits[order])
        further = tuple(each.rows(order) for each in self.further)
        selected = self.selected and self.selected.rows(order)
        expected = [self.expected[row] for row in order.tolist()]
        stimulus = self.stimulus.rows(order)
        return replace(self, stimulus=stimulus, expected=expected, mask=mask, further=further, selected=selected)

    def alone(self, row: int) -> Self:
        """A copy of one row, so that the others need not stay in memory."""
        one = slice(row, row + 1)
        codes = [None if array is None else array[one].copy() for array in self.stimulus.operands]
        stimulus = Stimulus(Operands(*codes), self.label[one].copy(), self.stimulus.names)  # type: ignore[arg-type]
        mask = self.mask and self.mask._replace(bits=self.mask.bits[one].copy())
        further = tuple(each.rows(one) for each in self.further)
        selected = self.selected and self.selected.rows(one)
        expected = [self.expected[row]]
        return replace(self, stimulus=stimulus, expected=expected, mask=mask, further=further, selected=selected)

    def recomputed(self, row: int) -> int:
        """The row's result, computed by the reference engine."""
        return int(self.alone(row).computed("reference")[0])

    def computed(self, engine: str | None = None) -> list[int]:
        """Golden's results of all rows."""
        further = {each.argument: each.codes for each in self.further}
        found: list[int] = self.dot(*self.counted, engine=engine, **further).tolist()
        return found

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
        """What was sent, by port; of flags the operands of the result too."""
        of = self.of.products.codes_by_name(self.of.row) if self.of is not None and self.echo.flags else {}
        return {**of, self.echo.port: (self.sent,)}

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
