"""The records that fused sums hand from step to step, in the order of the steps."""

from abc import abstractmethod
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
class Decoded(Record):
    """After decode: the elements of a, b and c, and of the scales, which some operations have none of."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    z: Operand
    alpha: tuple[Operand, ...]
    beta: tuple[Operand, ...]


class Terms(Record):
    """After multiply: the terms of the sum, c among them, and its special."""

    special: Special

    @property
    @abstractmethod
    def terms(self) -> tuple[Term, ...]:
        """In the order of the sum: c last."""

    def zero_sign(self) -> Value | None:
        """The sign of a sum of zero, where the terms settle it; None where it is always positive."""
        return None

    def written_nan(self) -> Value | None:
        """The code of a NaN result, where the operands settle it; None where there is one for all."""
        return None


@dataclass(frozen=True, eq=False)
class Products(Terms):
    """Exact products and c."""

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
        gap: how far each term lies below it, where that is found with it; else empty.
        exps: what the exponent can be.
    """

    name: str
    exp: Value
    gap: tuple[Value, ...]
    exps: ExpRange

    def widths(self) -> dict[str, int]:
        return {"exp": self.exps.shape.width}

    def without_gaps(self) -> "MaxExponent":
        """The exponent alone, for what follows alignment."""
        return MaxExponent(self.name, self.exp, (), self.exps)


@dataclass(frozen=True, eq=False)
class Compared(Record):
    """After max_exp: the terms, and the largest of their exponents."""

    terms: Terms = field(metadata=INLINE)
    largest: MaxExponent


@dataclass(frozen=True, eq=False)
class AlignedTerm(Record):
    """Sign and magnitude of a term in units of 2**(e_max − F), F that of the `AlignedTerms`.

    Attributes:
        bits: of the magnitude.
        carry: its second row, where it is the sum of two; as wide as the first, or one bit wider (`TermFormat.carry_bits`).
    """

    sign: Value
    aligned: Value
    bits: int
    carry: Value | None = None

    def widths(self) -> dict[str, int]:
        return {"sign": 1, "aligned": self.bits}


@dataclass(frozen=True, eq=False)
class AlignedTerms(Record):
    """The terms of the sum `name` at one exponent.

    Attributes:
        F: fraction bits of every magnitude.
        total_bits: bits of the largest |total|.
        lost: whether any term lost a one, where the rounding of the sum is to know.
        rounded_down: whether what the terms lost is positive, as it is where they were truncated toward minus infinity; else
            it counts as below the magnitude of the sum.
    """

    name: str
    terms: tuple[AlignedTerm, ...] = field(metadata=COLUMNS)
    F: int
    total_bits: int
    lost: Value | None = None
    rounded_down: bool = False

    @property
    def halves(self) -> bool:
        """Whether the sum has one place more below, for what was lost."""
        return self.lost is not None and self.rounded_down


@dataclass(frozen=True, eq=False)
class TotalRows(Record):
    """The terms of the sum `name` reduced to the operands of its last adder.

    Attributes:
        row: two, of one bit more than the total.
        increment, frame: a bit that counts too, and the sign that the rows are relative to; in ones' complement.
        F, total_bits, lost, rounded_down: as of `AlignedTerms`.
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
        """As of `AlignedTerms`."""
        return self.lost is not None and self.rounded_down


@dataclass(frozen=True, eq=False)
class Aligned(Record):
    """After align; `zero_negative` as `Terms.zero_sign`, `nan` as `Terms.written_nan`."""

    zero_negative: Value | None
    special: Special
    largest: MaxExponent
    aligned: AlignedTerms
    nan: Value | None = None


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
        zeros: leading zeros of the total, or up to `ANTICIPATION_ERROR` fewer, where they are anticipated.
        format: of the total as a term at e_max.
        lost: what the terms lost, where the rounding is to know.
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
    """After accumulate_rows; `zero_negative` and `nan` as of `Aligned`."""

    zero_negative: Value | None
    special: Special
    largest: MaxExponent
    rows: TotalRows
    nan: Value | None


@dataclass(frozen=True, eq=False)
class Total(Record):
    """After accumulate."""

    special: Special
    largest: MaxExponent
    total: SignedTotal
    nan: Value | None = None


@dataclass(frozen=True, eq=False)
class Counted(Record):
    """After normalise_count: the total, and by how many places it moves left."""

    special: Special
    largest: MaxExponent
    total: SignedTotal
    left: Value
    nan: Value | None


@dataclass(frozen=True, eq=False)
class NormalisedSum(Record):
    """The sum `name` with its leading one at the top of norm, as near as the result's e_min allows.

    Attributes:
        e_norm: exponent of norm's top bit.
        sticky: whether a one was lost below norm.
        format: of norm as a term at e_norm.
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
    """After normalise."""

    special: Special
    sum: NormalisedSum
    nan: Value | None = None


@dataclass(frozen=True, eq=False)
class Code(Record):
    """After encode: the result."""

    d: Value
