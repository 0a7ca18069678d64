"""The records that fused sums hand from step to step, in the order of the steps."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from amaranth import Value

from rtl.steps.interfaces import ExpRange, Operand, Special, Term, TermFormat
from rtl.steps.step_record import COLUMNS, INLINE, Record


@dataclass(frozen=True, eq=False)
class Operands(Record):
    """The operand ports: vectors of codes, element k in bits [k·w, (k+1)·w); scales where the operation has them."""

    a: Value
    b: Value
    c: Value
    scale_a: Value | None = None
    scale_b: Value | None = None


@dataclass(frozen=True, eq=False)
class DecodedOperands(Operands):
    """The operands of a datapath whose elements and scales are decoded in front of it.

    Attributes:
        decoded: what the decoders give. names: those of the decoders, in the same order.
    """

    decoded: tuple[Operand, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def by_name(self) -> dict[str, Operand]:
        """What was decoded, by the names of the decoders."""
        return dict(zip(self.names, self.decoded, strict=True))


@dataclass(frozen=True, eq=False)
class Decoded(Record):
    """Record after step decode: the elements of a and b, c, and the scales if the operation has them."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    z: Operand
    alpha: tuple[Operand, ...]
    beta: tuple[Operand, ...]

    def scales(self, block: int) -> dict[str, Operand]:
        """The scales of a block by side: `alpha`, `beta`, or the one that the operation has."""
        return scales_of(self.alpha, self.beta, block)


def scales_of(alpha: Sequence[Operand], beta: Sequence[Operand], block: int) -> dict[str, Operand]:
    """The scales of a block by side."""
    return {side: scales[block] for side, scales in (("alpha", alpha), ("beta", beta)) if scales}


class Terms(Record):
    """Record after step multiply: the terms of the sum, c included, and its special."""

    special: Special

    @property
    @abstractmethod
    def terms(self) -> tuple[Term, ...]:
        """The terms in the order of the sum, c last."""

    def zero_sign(self) -> Value | None:
        """The sign of a sum of zero, if the terms determine it; None if it is always positive."""
        return None

    def written_nan(self) -> Value | None:
        """The code of a NaN result, if the operands determine it; None if every NaN has the same code."""
        return None

    def is_invalid(self) -> Value | None:
        """The flag NV, if the unit has flags."""
        return None


@dataclass(frozen=True, eq=False)
class Products(Terms):
    """Record after step multiply of operations that add plain products: exact products and c."""

    prod: tuple[Term, ...]
    c: Term
    special: Special

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.prod, self.c)


@dataclass(frozen=True, eq=False)
class MaxExponent(Record):
    """The exponent that the terms of the sum `name` are aligned to.

    Attributes:
        gap: distance of each term's exponent below it, if that is computed with it; else empty.
        exps: range of the exponent.
    """

    name: str
    exp: Value
    gap: tuple[Value, ...]
    exps: ExpRange

    def widths(self) -> dict[str, int]:
        return {"exp": self.exps.shape.width}

    def without_gaps(self) -> "MaxExponent":
        """The exponent without the gaps, for the steps after alignment."""
        return MaxExponent(self.name, self.exp, (), self.exps)


@dataclass(frozen=True, eq=False)
class Compared(Record):
    """Record after step max_exp: the terms, and the largest of their exponents."""

    terms: Terms = field(metadata=INLINE)
    largest: MaxExponent


@dataclass(frozen=True, eq=False)
class AlignedTerm(Record):
    """Sign and magnitude of a term in units of 2**(e_max − F), with the F of its `AlignedTerms`.

    Attributes:
        bits: the magnitude, or its first row.
        carry: second row of a magnitude that is the sum of two rows; as wide as the first, or one bit wider
            (`TermFormat.carry_bits`).
    """

    sign: Value
    aligned: Value
    bits: int
    carry: Value | None = None

    def widths(self) -> dict[str, int]:
        return {"sign": 1, "aligned": self.bits}


@dataclass(frozen=True, eq=False)
class AlignedTerms(Record):
    """The terms of the sum `name`, aligned to one exponent.

    Attributes:
        F: fraction bits of every magnitude.
        total_bits: bits of the largest |total|.
        lost: whether any term lost a 1 bit, if the rounding of the sum needs to know; else None.
        rounded_down: whether the lost amount is positive, as after truncation toward minus infinity; else it has the sign of
            the sum.
    """

    name: str
    terms: tuple[AlignedTerm, ...] = field(metadata=COLUMNS)
    F: int
    total_bits: int
    lost: Value | None = None
    rounded_down: bool = False

    @property
    def halves(self) -> bool:
        """Whether the sum has one more place below, for the lost amount."""
        return self.lost is not None and self.rounded_down


@dataclass(frozen=True, eq=False)
class TotalRows(Record):
    """The terms of the sum `name`, reduced to the operands of its last adder.

    Attributes:
        row: two rows, each one bit wider than the total.
        increment, frame: in ones' complement, a bit that is added too, and the sign that the rows are relative to.
        F, total_bits, lost, rounded_down: as in `AlignedTerms`.
    """

    name: str
    row: tuple[Value, Value]
    increment: Value | None
    frame: Value | None
    F: int
    total_bits: int
    lost: Value | None
    rounded_down: bool

    @property
    def halves(self) -> bool:
        """Whether the sum has one more place below, for the lost amount."""
        return self.lost is not None and self.rounded_down


@dataclass(frozen=True, eq=False)
class Aligned(Record):
    """Record after step align; `zero_negative` is `Terms.zero_sign`, `nan` is `Terms.written_nan`, `invalid` is
    `Terms.is_invalid`."""

    zero_negative: Value | None
    special: Special
    largest: MaxExponent
    aligned: AlignedTerms
    nan: Value | None = None
    invalid: Value | None = None


@dataclass(frozen=True, eq=False)
class Lost(Record):
    """Sticky flags of the ones that alignment cut from the terms; the exact sum differs from the total by less than one bit.

    Attributes:
        sticky: whether there are any, in places below all others; not set beside a total of zero, which stays zero.
        fill: the bit of every place between these and the total's last, where that is not always zero: a one where the
            sum's magnitude is below |total|, of which the record of the total then holds one less.
    """

    sticky: Value
    fill: Value | None

    def widths(self) -> dict[str, int]:
        return {"sticky": 1} if self.fill is None else {"sticky": 1, "fill": 1}


@dataclass(frozen=True, eq=False)
class SignedTotal(Record):
    """The exact total of the sum `name`, in units of 2**(e_max − F).

    Attributes:
        zeros: leading zeros of the total; if they are anticipated, up to `ANTICIPATION_ERROR` fewer.
        format: format of the total as a term at e_max.
        lost: what the terms lost, if the rounding needs to know.
    """

    name: str
    sign: Value
    total: Value
    zeros: Value | None
    format: TermFormat
    lost: Lost | None = None

    def widths(self) -> dict[str, int]:
        return {"sign": 1, "total": self.format.sig_bits}


@dataclass(frozen=True, eq=False)
class Reduced(Record):
    """Record after part accumulate_rows of step accumulate; the values of `Aligned` among them."""

    zero_negative: Value | None
    special: Special
    largest: MaxExponent
    rows: TotalRows
    nan: Value | None
    invalid: Value | None


@dataclass(frozen=True, eq=False)
class Total(Record):
    """Record after step accumulate."""

    special: Special
    largest: MaxExponent
    total: SignedTotal
    nan: Value | None = None
    invalid: Value | None = None


@dataclass(frozen=True, eq=False)
class Counted(Record):
    """Record after part normalise_count of step normalise: the total, and the number of places that it moves left."""

    special: Special
    largest: MaxExponent
    total: SignedTotal
    left: Value
    nan: Value | None
    invalid: Value | None


@dataclass(frozen=True, eq=False)
class NormalisedSum(Record):
    """The sum `name` with its leading one at the top of norm, as near as the result's e_min allows.

    Attributes:
        e_norm: exponent of norm's top bit.
        sticky: whether a 1 bit was lost below norm.
        format: format of norm as a term at e_norm.
    """

    name: str
    sign: Value
    norm: Value
    e_norm: Value
    sticky: Value
    format: TermFormat

    def widths(self) -> dict[str, int]:
        return {"sign": 1, "norm": self.format.sig_bits, "e_norm": self.format.exps.shape.width, "sticky": 1}


@dataclass(frozen=True, eq=False)
class Normalised(Record):
    """Record after step normalise."""

    special: Special
    sum: NormalisedSum
    nan: Value | None = None
    invalid: Value | None = None


@dataclass(frozen=True, eq=False)
class Code(Record):
    """Record after step encode: the code of the result, and its exception flags if the unit has them."""

    d: Value
    flags: Value | None = None
