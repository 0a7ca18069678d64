"""Compares many units on one input, given as numbers: the codes that represent it in each unit's formats, the results side
by side, and the trace of each, as text, JSON and HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, frexp, isfinite, isnan
from typing import Any

import numpy as np

import golden
from golden import html, text
from golden.arithmetic.formats import Cls, Format
from golden.arrays import bits_dtype
from golden.html import Markup, element
from golden.stimulus import OperandShape
from golden.text import shortened
from golden.trace import Rounding, Sum, Trace
from golden.units.instruction import Instruction

ONE = 1.0


@dataclass(frozen=True)
class Input:
    """The numbers of one dot product: d = c + Σ a_k·b_k. Missing elements of a longer vector are zero, missing scales one.

    Attributes:
        a, b: one element per product. c: the accumulator. scale_a, scale_b: scales of the blocks of a and of b.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    c: float
    scale_a: tuple[float, ...] = ()
    scale_b: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.a or len(self.a) != len(self.b):
            raise ValueError(
                f"a and b must have the same number of products, at least one; got {len(self.a)} and {len(self.b)}"
            )

    def exact(self) -> Fraction | None:
        """c + Σ a_k·b_k without scales; None where an operand is not finite."""
        if not all(map(isfinite, (*self.a, *self.b, self.c))):
            return None
        return sum((Fraction(x) * Fraction(y) for x, y in zip(self.a, self.b, strict=True)), Fraction(self.c))


MAX_CHARACTERS = 1100
"""Longest text of a number: fp64's smallest, 2^-1074, has 1077 characters in decimal."""

MAX_EXPONENT = 9999
"""Largest exponent in a text: numbers with a larger one, none within fp64's range, would take much time and memory."""

_EXPONENT = re.compile(r"(?:\^|[ep])[+-]?0*([0-9][0-9_]*)$", re.IGNORECASE)


def number(text: str) -> float:
    """The number of a text: decimal, hexadecimal (`0x1.8p-3`), a power of two (`-2^13`), `inf` or `nan`.

    Raises:
        ValueError: the text is none of these, or fp64 does not represent the number, as 0.1.
    """
    exponent = _EXPONENT.search(text)
    if len(text) > MAX_CHARACTERS or (exponent is not None and len(exponent[1]) > len(str(MAX_EXPONENT))):
        raise ValueError(
            f"a number must have at most {MAX_CHARACTERS:,} characters and an exponent of at most {MAX_EXPONENT:,} in "
            f"magnitude; got {shortened(repr(text))}"
        )
    sign, word = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    try:
        if word in ("inf", "nan"):
            return sign * float(word)
        if word.startswith("2^"):
            exact = Fraction(2) ** int(word[2:])
        elif word.lower().startswith("0x"):
            exact = Fraction(float.fromhex(word))
        else:
            exact = Fraction(word)
        value = float(exact)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f"a number must be decimal, 0x1.8p-3, -2^13, inf or nan within fp64's range; got {text!r}"
        ) from error
    if Fraction(value) != exact:
        raise ValueError(f"{text} must be a binary number of at most 53 bits; the nearest is {value.hex()}")
    return sign * value


def code_of(value: float, operand: Format) -> int | None:
    """The code of exactly this number in a format; None if it has none. Every NaN gives the quiet NaN."""
    if isnan(value):
        return operand.nan
    if not isfinite(value):
        return None if operand.infinity is None else operand.signed_infinity(int(value < 0))
    if value == 0 and copysign(1, value) < 0:
        return operand.negative_zero or None
    code = operand.encode(value)
    return code if operand.value(code) == Fraction(value) else None


def value_of(code: int, operand: Format) -> float:
    """The number of a code; fp64 represents the numbers of every format."""
    sign, _, _, cls = operand.decode(code)
    if cls is Cls.NAN:
        return float("nan")
    if cls is Cls.INFINITY:
        return float("-inf") if sign else float("inf")
    exact = operand.value(code)
    assert exact is not None
    return copysign(float(exact), -1.0 if sign else 1.0)


SHOWN_LOSSES = 6
"""Losses that a row of the table lists; the trace lists all of them."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of an instruction for the input, and the instructions of its architecture with the same steps.

    Attributes:
        instruction: the first of these instructions. names: the names of all of them.
        trace: how the first one computes d. value: d as a number. losses: the loss of each term and each rounding, in order.
    """

    instruction: Instruction
    names: tuple[str, ...]
    trace: Trace
    value: float
    losses: tuple[str, ...]

    @property
    def formats(self) -> str:
        """Formats of a, b, c and d."""
        i = self.instruction
        return f"{i.a}×{i.b}+{i.c}→{i.d}"


@dataclass(frozen=True)
class Asked:
    """The result of a program for the input: its name, formats and value. A program shows no steps."""

    name: str
    shape: OperandShape
    value: float

    def row(self) -> tuple[str, ...]:
        """The row of the table."""
        s = self.shape
        return ("program", shown(self.value), f"{s.a}×{s.b}+{s.c}→{s.d}", "", "", self.name)


@dataclass(frozen=True)
class Comparison:
    """The results of an input, and the instructions that cannot take it, by reason."""

    input: Input
    results: tuple[Result, ...]
    left_out: dict[str, tuple[str, ...]]
    asked: Asked | None = None

    HEADER = ("architecture", "d", "formats", "operation", "lost", "instructions")
    """Columns of the table. d comes early: a narrow screen shows three columns, and the result is the column to compare."""

    def rows(self) -> list[tuple[str, ...]]:
        """The rows of the table, one per result."""
        asked = [] if self.asked is None else [self.asked.row()]
        return asked + [
            (
                r.instruction.arch, shown(r.value), r.formats, r.instruction.operation.name, _shortened(r.losses),
                r.names[0] + (f" and {len(r.names) - 1} more" if len(r.names) > 1 else ""),
            )
            for r in self.results
        ]  # fmt: skip

    def text(self, traces: bool = False) -> str:
        """The comparison as text; with `traces`, the trace of each result below the table."""
        lines = [described(self.input), "", text.table([self.HEADER, *self.rows()]), *self._left_out_lines()]
        if traces:
            lines += [line for r in self.results for line in ("", r.trace.text().rstrip())]
        return "\n".join(lines) + "\n"

    def html(self, title: str = "One input on many units") -> str:
        """The comparison as a self-contained HTML page with every trace."""
        lost = self.HEADER.index("lost")  # one line per loss: otherwise long names squeeze the column
        rows = [
            (*row[:lost], row[lost].replace(" ", "\u00a0").replace(",\u00a0", ", "), *row[lost + 1 :]) for row in self.rows()
        ]
        body: list[str] = [
            element("p", described(self.input)),
            html.table(self.HEADER, rows, "results", (self.HEADER.index("d"),)),
        ]
        body += [element("p", line) for line in self._left_out_lines()]
        for r in self.results:
            summary = f"{r.instruction.arch} {r.names[0]}: d = {shown(r.value)}"
            body.append(html.details(summary, r.trace.html_body(below=1), _names(r.names)))
        return html.page(title, *body)

    def as_dict(self) -> dict[str, Any]:
        """The comparison for JSON; each result has its trace."""
        results = [
            {
                "arch": r.instruction.arch,
                "names": r.names,
                "value": shown(r.value),
                "lost": r.losses,
                "trace": r.trace.as_dict(),
            }
            for r in self.results
        ]
        asked = {} if self.asked is None else {"program": {"name": self.asked.name, "value": shown(self.asked.value)}}
        return {**asked, "results": results, "left_out": self.left_out}

    def _left_out_lines(self) -> list[str]:
        return [
            f"not compared: {len(names)} instructions, {reason}: {_shortened(names)}"
            for reason, names in self.left_out.items()
        ]


def compare(given: Input, instructions: Iterable[Instruction] | None = None) -> Comparison:
    """The input on every instruction whose formats hold it exactly, by architecture in the catalogue's order.

    Args:
        instructions: those of the whole catalogue where None.
    """
    groups: dict[object, list[Instruction]] = {}
    for i in golden.instructions() if instructions is None else instructions:
        groups.setdefault((i.arch, i.a, i.b, i.chain, i.k), []).append(i)
    left_out: dict[str, list[str]] = {}
    for key, group in list(groups.items()):
        reason = _reason_against(given, group[0])
        if reason is not None:
            left_out.setdefault(reason, []).extend(f"{i.arch} {i.name}" for i in groups.pop(key))
    merged: dict[object, Result] = {}
    for group in groups.values():
        result = _result(given, group)
        i = group[0]
        key = (i.arch, i.a, i.b, i.c, i.d, i.operation.name, result.trace.d, result.losses)
        before = merged.get(key)
        merged[key] = result if before is None else _joined(before, result)
    return Comparison(given, tuple(merged.values()), {reason: tuple(names) for reason, names in left_out.items()})


def codes_for(given: Input, shape: OperandShape) -> dict[str, Any] | None:
    """Operands of a shape as codes; None where its formats do not hold the input."""
    columns: list[tuple[str, Format | None, Sequence[float], int, float]] = [
        ("a", shape.a, given.a, shape.K, 0.0),
        ("b", shape.b, given.b, shape.K, 0.0),
        ("scale_a", shape.scale, given.scale_a, shape.blocks, ONE),
        ("scale_b", shape.scale, given.scale_b, shape.blocks, ONE),
    ]
    found: dict[str, Any] = {"c": code_of(given.c, shape.c)}
    for name, operand, values, count, filler in columns:
        if operand is not None and len(values) <= count:
            found[name] = [code_of(value, operand) for value in (*values, *[filler] * (count - len(values)))]
        elif values:
            return None
    whole = [found["c"], *(code for name, codes in found.items() if name != "c" for code in codes)]
    return None if None in whole else found


def _reason_against(given: Input, i: Instruction) -> str | None:
    """The reason why an instruction cannot take the input; None if it can."""
    if len(given.a) > i.k:
        return f"which take fewer than {len(given.a)} products"
    if i.scale is None and any(scale != ONE for scale in (*given.scale_a, *given.scale_b)):
        return "which take no scales"
    unscaled = Input(given.a, given.b, given.c) if i.scale is None else given
    return None if codes_for(unscaled, OperandShape.of(i)) is not None else "whose formats do not hold the numbers"


def _result(given: Input, group: Sequence[Instruction]) -> Result:
    i = group[0]
    codes = codes_for(Input(given.a, given.b, given.c) if i.scale is None else given, OperandShape.of(i))
    assert codes is not None
    trace = i.explain(**{name: _array(code, _format_of(i, name)) for name, code in codes.items()})
    return Result(
        instruction=i,
        names=tuple(member.name for member in group),
        trace=trace,
        value=value_of(trace.d, i.d),
        losses=tuple(losses(trace)),
    )


def _format_of(i: Instruction, name: str) -> Format:
    operand = {"a": i.a, "b": i.b, "c": i.c}.get(name, i.scale)
    assert operand is not None
    return operand


def _array(codes: Any, operand: Format) -> Any:
    return np.array(codes, bits_dtype(operand))


def losses(trace: Trace) -> list[str]:
    """The loss of each term and each rounding of a trace (exact minus retained value), in order."""
    found = []
    for number, step in enumerate(trace.steps, 1):
        where = f"step {number} " if len(trace.steps) > 1 else ""
        for part in step.parts:
            if isinstance(part, Sum):
                found += [f"{where}{term.name}: {term.cut}" for term in part.terms if term.cut.sig]
            elif isinstance(part, Rounding) and part.exact.value != part.rounded.value:
                found.append(f"{where}{part.step}: {_difference(part)}")
    return found


def _difference(part: Rounding) -> str:
    return f"{float(part.exact.value - part.rounded.value):g}"


def shown(value: float) -> str:
    """A number as text, exact: decimal where that is short, else a power of two or hexadecimal."""
    decimal = repr(value)
    if len(decimal) <= 8 or not isfinite(value):
        return decimal
    mantissa, exp = frexp(value)
    if abs(mantissa) == 0.5:
        return f"{'-' if value < 0 else ''}2^{exp - 1}"
    if len(decimal) <= 13 and "e" not in decimal:
        return decimal
    digits, _, power = value.hex().partition("p")
    return f"{digits.rstrip('0')}p{power}"


def described(given: Input) -> str:
    """The input in a line; zeros at the end of the vectors are omitted."""
    parts = [f"a = ({', '.join(map(shown, given.a))})", f"b = ({', '.join(map(shown, given.b))})", f"c = {shown(given.c)}"]
    exact = given.exact()
    scaled = any(scale != ONE for scale in (*given.scale_a, *given.scale_b))
    if scaled:
        parts += [
            f"scale_a = ({', '.join(map(shown, given.scale_a))})",
            f"scale_b = ({', '.join(map(shown, given.scale_b))})",
        ]
    elif exact is not None:
        parts.append(f"exact sum = {exact}")
    return "; ".join(parts)


def _joined(first: Result, second: Result) -> Result:
    return Result(
        instruction=first.instruction, names=(*first.names, *second.names), trace=first.trace, value=first.value,
        losses=first.losses,
    )  # fmt: skip


def _shortened(items: Sequence[str]) -> str:
    more = len(items) - SHOWN_LOSSES
    return ", ".join(items[:SHOWN_LOSSES]) + (f" and {more} more" if more > 0 else "")


def _names(names: Sequence[str]) -> Markup:
    return element("p", "the same: " + ", ".join(names)) if len(names) > 1 else Markup("")
