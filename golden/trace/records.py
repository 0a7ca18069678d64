"""The records of a trace: the steps of one dot product, in the terms of the vocabulary. Every number is exact."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from golden.arithmetic.format import Format, power_of_two

SHOWN_BITS = 112
"""Longest significand that is shown in full (bits); products of fp64 have 106 bits, their sums thousands."""


class Exact(NamedTuple):
    """An exact number sig · 2**exp, sig signed. Its text is exact up to `SHOWN_BITS` bits."""

    sig: int
    exp: int

    @property
    def value(self) -> Fraction:
        """The number as a fraction."""
        return self.sig * power_of_two(self.exp)

    def __str__(self) -> str:
        if not self.sig:
            return "0"
        zeros = (self.sig & -self.sig).bit_length() - 1
        sig, exp = self.sig >> zeros, self.exp + zeros
        bits = sig.bit_length()
        if bits > SHOWN_BITS:
            lead = abs(sig) >> (bits - SHOWN_BITS)
            return f"{'-' if sig < 0 else '+'}{lead:#x}…·2^{exp + bits - SHOWN_BITS} ({bits:,} bits)"
        return f"{sig:+}" + (f"·2^{exp}" if exp else "")


@dataclass(frozen=True, kw_only=True)
class Operand:
    """An input code and its decoded parts.

    Attributes:
        name: `a[3]`, `c`, `scale_a[0]`. format: its format. code: its bits.
        sign, exp, sig, cls: its parts; cls in lower case.
    """

    name: str
    format: Format
    code: int
    sign: int
    exp: int
    sig: int
    cls: str

    @classmethod
    def of(cls, name: str, code: int, operand: Format) -> "Operand":
        """The operand of a name, a code and its format."""
        parts = operand.decode(code)
        return cls(
            name=name, format=operand, code=code, sign=parts.sign, exp=parts.exp, sig=parts.sig,
            cls=parts.cls.name.lower(),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Term:
    """An addend of a sum, before and after alignment.

    Attributes:
        name: `a[3]·b[3]`, `c`, `group 0`, `T`.
        cls: the classes of its factors, such as `normal·subnormal`; empty for a sum.
        sign: of its significand. exp: the exponent that alignment sees. sig: magnitude of the significand, an integer with
            `frac` fraction bits.
        exact: its value.
        aligned: its value after alignment, as an integer of that many times 2**lsb.
        cut: the amount that alignment removed, exact minus aligned.
        dropped: whether a rule of the operation makes it count as zero, so that all of it is cut.
    """

    name: str
    cls: str
    sign: int
    exp: int
    sig: int
    frac: int
    exact: Exact
    aligned: Exact
    cut: Exact
    dropped: bool = False


@dataclass(frozen=True, kw_only=True)
class Sum:
    """Terms aligned and added.

    Attributes:
        of: a description of the summands.
        exponent: name of the exponent that all terms are aligned to: `e_max`, `e_dot`, `e_out`; empty if no bit is dropped.
        e: its value; None if no bit is dropped.
        set_by: the terms that have this exponent; empty if it is the floor for terms without a significand.
        truncation: rounding mode of the alignment; empty if no bit is dropped.
        terms: in order.
        total: the exact sum of the aligned terms.
    """

    of: str
    exponent: str
    e: int | None
    set_by: tuple[str, ...]
    truncation: str
    terms: tuple[Term, ...]
    total: Exact


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """The effect of a block's scales on a term.

    Attributes:
        name: of the term. before: the product or the sum of a group's products.
        alpha, beta: the scales, exact; None on a side without scales.
        exact: the scaled value. exp: the exponent that alignment sees.
    """

    name: str
    before: Exact
    alpha: Exact | None
    beta: Exact | None
    exact: Exact
    exp: int

    @property
    def scales(self) -> tuple[Exact, ...]:
        """The scales that there are, that of a first."""
        return tuple(scale for scale in (self.alpha, self.beta) if scale is not None)


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """Steps normalise and round, with encode if the result is a code; or step truncate.

    Attributes:
        step: `round` or `truncate`. of: a description of the rounded number.
        exact: the number before rounding. mode: rounding mode.
        amount: sign of the sticky amount that stands for the bits alignment dropped (key `sticky`); 0 without one.
        e_norm: exponent of its leading one, None for zero.
        last: exponent of the last retained bit, None for zero.
        kept: magnitude truncated to the retained bits. guard: the bit below them. sticky: whether any lower bit is 1.
        tie: whether the removed part is exactly half of the last bit.
        direction: `exact`, `toward zero` or `away from zero`.
        carry: whether rounding up carried into a new leading bit.
        rounded: the value after rounding, before overflow and flushing.
        format, code: of the result; empty and None for `truncate`.
        note: actions of encode beyond packing (overflow, a zero made positive, a subnormal flushed), or empty.
    """

    step: str
    of: str
    exact: Exact
    amount: int
    mode: str
    e_norm: int | None
    last: int | None
    kept: int
    guard: int
    sticky: int
    tie: bool
    direction: str
    carry: bool
    rounded: Exact
    format: Format | None
    code: int | None
    note: str


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """An integer sum brought into the range of the result.

    Attributes:
        total: the exact sum. rule: `wrap` or `saturate`.
        beyond: the exact sum minus the result's value; 0 if the format holds the sum.
        format, code: of the result.
    """

    total: int
    rule: str
    beyond: int
    format: Format
    code: int


@dataclass(frozen=True, kw_only=True)
class Special:
    """A NaN or an infinity that determines the result before any sum.

    Attributes:
        of: name of the result. reasons: the operands and rules that determine it.
        result: `NaN`, `+Inf` or `-Inf`. format, code: the result.
    """

    of: str
    reasons: tuple[str, ...]
    result: str
    format: Format
    code: int


Part = Sum | Scaling | Rounding | Narrowing | Special


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a chain: d = c + Σ a_k·b_k over its products.

    Attributes:
        title: its number and products, as text.
        products: the indices k of its products, in order.
        operands: a, b, c and scales of the step; c is the d of the step before.
        parts: records of its computation, in order.
        d: its result.
    """

    title: str
    products: tuple[int, ...]
    operands: tuple[Operand, ...]
    parts: tuple[Part, ...]
    d: Operand
