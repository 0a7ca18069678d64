"""Orders of numbers and of codes, and rows with one operand changed; what monotonicity and symmetry are stated in."""

from dataclasses import dataclass, replace
from fractions import Fraction

from analysis.exact import Arithmetic, Row
from golden.formats import Cls, Format


@dataclass(frozen=True)
class Place:
    """An operand of a row: `c`, or element k of `a` or `b`."""

    name: str
    k: int = 0

    def code(self, row: Row) -> int:
        """Its code."""
        return row.c if self.name == "c" else int(getattr(row, self.name)[self.k])

    def put(self, row: Row, code: int) -> Row:
        """The row with another code there."""
        if self.name == "c":
            return replace(row, c=code)
        codes = getattr(row, self.name)
        return replace(row, **{self.name: (*codes[: self.k], code, *codes[self.k + 1 :])})  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.name if self.name == "c" else f"{self.name}[{self.k}]"


def next_up(code: int, operand: Format) -> int | None:
    """The code of the next larger finite number; None where there is none, or the format has no sign. Of either zero, the
    smallest positive number."""
    x = operand.decode(code)
    if x.cls >= Cls.INFINITY or not operand.signed:
        return None
    step = 1 << operand.pad_bits
    magnitude = code & ~(operand.negative_zero or 1 << (operand.width - 1)) & ~(step - 1)
    if x.sign and x.cls is not Cls.ZERO:
        lower = magnitude - step
        return lower and lower | (operand.negative_zero or 1 << (operand.width - 1))
    return magnitude + step if magnitude < operand.max_finite else None


def number_of(code: int, operand: Format) -> Fraction | float | None:
    """A result as something that can be ordered; None for NaN."""
    x = operand.decode(code)
    if x.cls is Cls.NAN:
        return None
    if x.cls is Cls.INFINITY:
        return float("-inf") if x.sign else float("inf")
    return operand.value(code)


def negated(code: int, operand: Format) -> int:
    """The code of the negative number; of NaN, and of a zero where there is no −0, itself."""
    cls = operand.decode(code).cls
    if cls is Cls.NAN or (cls is Cls.ZERO and not operand.negative_zero):
        return code
    return code ^ (operand.negative_zero or 1 << (operand.width - 1))


def size(row: Row, arithmetic: Arithmetic) -> tuple[int, int, int]:
    """How large a row is: products that are not zero, significand bits that are set, distance of exponents from 0."""
    products = sum(1 for p, q in zip(row.a, row.b, strict=True) if _parts(p, arithmetic.a)[0] and _parts(q, arithmetic.b)[0])
    columns = [*((code, arithmetic.a) for code in row.a), *((code, arithmetic.b) for code in row.b), (row.c, arithmetic.c)]
    parts = [_parts(code, operand) for code, operand in columns]
    return products, sum(bits for bits, _ in parts), sum(exp for _, exp in parts)


def _parts(code: int, operand: Format) -> tuple[int, int]:
    """Set bits of the significand, and how far the number's leading bit is from 2^0."""
    x = operand.decode(code)
    return x.sig.bit_count(), abs(x.exp + x.sig.bit_length() - 1 - operand.man_bits) if x.sig else 0
