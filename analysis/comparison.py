"""One input on many units: results side by side, with the trace of each, as text, JSON and HTML."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import frexp, isfinite
from typing import Any

import numpy as np

import golden
from analysis.values import ONE, Input, code_of, value_of
from golden import html, text
from golden.arrays import bits_dtype
from golden.formats import Format
from golden.html import Markup, element
from golden.instruction import Instruction
from golden.trace import Rounding, Sum, Trace

SHOWN_LOSSES = 6
"""Losses that a row of the table names; the trace has all of them."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an instruction makes of the input, and which others of its architecture agree for the same reasons.

    Attributes:
        instruction: the first of them. names: all of them.
        trace: of the first. value: of d. losses: what each term and each rounding lost, in order.
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
class Comparison:
    """The results of an input, and which instructions cannot take it, with the reason."""

    input: Input
    results: tuple[Result, ...]
    left_out: dict[str, tuple[str, ...]]

    HEADER = ("architecture", "d", "formats", "operation", "lost", "instructions")
    """d comes early: on a narrow screen the table is as wide as three columns, and the result is what is compared."""

    def rows(self) -> list[tuple[str, ...]]:
        """A row a result."""
        return [
            (
                r.instruction.arch, shown(r.value), r.formats, r.instruction.operation.name, _shortened(r.losses),
                r.names[0] + (f" and {len(r.names) - 1} more" if len(r.names) > 1 else ""),
            )
            for r in self.results
        ]  # fmt: skip

    def text(self, traces: bool = False) -> str:
        """For a terminal; with `traces`, each result's below the table."""
        lines = [described(self.input), "", text.table([self.HEADER, *self.rows()]), *self._left_out_lines()]
        if traces:
            lines += [line for r in self.results for line in ("", r.trace.text().rstrip())]
        return "\n".join(lines) + "\n"

    def html(self, title: str = "One input on many units") -> str:
        """A page of its own, every trace in it."""
        lost = self.HEADER.index("lost")  # a line for each: beside long names the column would be a word wide
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
        """For JSON; each result has its trace."""
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
        return {"results": results, "left_out": self.left_out}

    def _left_out_lines(self) -> list[str]:
        return [
            f"left out: {len(names)} instructions, {reason}: {_shortened(names)}" for reason, names in self.left_out.items()
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


def codes_for(given: Input, i: Instruction) -> dict[str, Any] | None:
    """The operands of the instruction as codes; None where its formats do not hold the input."""
    blocks = 0 if i.block_size is None else -(-i.k // i.block_size)
    columns: list[tuple[str, Format | None, Sequence[float], int, float]] = [
        ("a", i.a, given.a, i.k, 0.0),
        ("b", i.b, given.b, i.k, 0.0),
        ("scale_a", i.scale, given.scale_a, blocks, ONE),
        ("scale_b", i.scale, given.scale_b, blocks, ONE),
    ]
    found: dict[str, Any] = {"c": code_of(given.c, i.c)}
    for name, operand, values, count, filler in columns:
        if operand is not None and len(values) <= count:
            found[name] = [code_of(value, operand) for value in (*values, *[filler] * (count - len(values)))]
        elif values:
            return None
    whole = [found["c"], *(code for name, codes in found.items() if name != "c" for code in codes)]
    return None if None in whole else found


def _reason_against(given: Input, i: Instruction) -> str | None:
    """Why an instruction cannot take the input, None where it can."""
    if len(given.a) > i.k:
        return f"which take fewer than {len(given.a)} products"
    if i.scale is None and any(scale != ONE for scale in (*given.scale_a, *given.scale_b)):
        return "which take no scales"
    unscaled = Input(given.a, given.b, given.c) if i.scale is None else given
    return None if codes_for(unscaled, i) is not None else "whose formats do not hold the numbers"


def _result(given: Input, group: Sequence[Instruction]) -> Result:
    i = group[0]
    codes = codes_for(Input(given.a, given.b, given.c) if i.scale is None else given, i)
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
    """What each term and each rounding of a trace lost, exact minus kept, in order."""
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
    if len(decimal) <= 12 and "e" not in decimal:
        return decimal
    digits, _, power = value.hex().partition("p")
    return f"{digits.rstrip('0')}p{power}"


def described(given: Input) -> str:
    """The input in a line; zeros at the end of the vectors are left out."""
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
