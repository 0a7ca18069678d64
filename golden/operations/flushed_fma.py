"""The multiply-add of x86's dot products: fp32, subnormals flushed, the first NaN propagated (numerics.md, section 11)."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from golden.arithmetic.formats import FP32, Cls, Format
from golden.arithmetic.specials import addend_special, combine, encode_special, first_nan, invalid_nan, product_special
from golden.arithmetic.steps import Term, exact_sum, flushed
from golden.operations.base import Operation, check_length
from golden.operations.structure import Rounding, Structure, Sum

PRODUCT_FRAC = 2 * FP32.man_bits
"""Fraction bits of the exact product of two fp32 numbers."""


def widened(operand: Format, code: int) -> int:
    """A code of fp16 or bf16 as fp32, exactly: subnormals of fp16 become normal numbers, and a NaN keeps its payload."""
    sign, exp, sig, cls = operand.decode(code)
    if cls is Cls.INFINITY:
        return FP32.signed_infinity(sign)
    if cls is Cls.NAN:
        payload = code & ((1 << operand.man_bits) - 1)
        magnitude = FP32.signed_infinity(0) | payload << (FP32.man_bits - operand.man_bits)
    else:
        magnitude = FP32.encode_scaled(sig, exp - operand.man_bits, "RNE")
    return FP32.negative_zero | magnitude if sign else magnitude


def rounding(of: str) -> Rounding:
    """The rounding of every sum, `flushed_sum`, as a part of an operation's structure."""
    return Rounding(of, "RNE", FP32, flushes=True)


def flushed_sum(terms: Sequence[Term], negative_zero: bool) -> int:
    """The exact sum of terms, rounded RNE to 24 bits with an unbounded exponent; below 2^−126, a zero of its sign.

    Args:
        negative_zero: whether an exact zero is −0.

    Returns:
        An fp32 code.
    """
    total, lsb = exact_sum(terms)
    if total == 0:
        return FP32.negative_zero if negative_zero else 0
    return FP32.encode_scaled(total, lsb, "RNE", flush=True)


@dataclass(frozen=True, kw_only=True)
class FlushedFMA(Operation):
    """The base of FTZ-FMA and FTZ-EO-FMA. Elements of a and b are first widened to fp32, which is exact.

    Attributes:
        a, b: one format for both, fp16 or bf16.
        c: fp32; d has it too.
        L: products per step.
    """

    widened = staticmethod(widened)  # a step that a derived class may replace, like those of `Operation`
    flushed_sum = staticmethod(flushed_sum)

    L: int

    def _multiplicands(self) -> Collection[str]:
        return ("fp16", "bf16")

    def _accumulators(self) -> Collection[str]:
        return ("fp32",)

    def _validate(self) -> None:
        if self.a != self.b:
            raise ValueError(f"{self.name} takes one format for a and b; got a={self.a}, b={self.b}")
        check_length(self.L)

    @property
    def d(self) -> Format:
        return FP32

    @property
    def length(self) -> int:
        return self.L

    def fused(self, sums: Sequence[Sum]) -> Structure:
        """The structure of some multiply-adds and additions."""
        kept = tuple(operand for operand in {self.a, FP32} if operand.exp_bits == FP32.exp_bits)
        return Structure(sums=tuple(sums), flushed=kept, widened=FP32, zero="ieee", nan="first")

    def nan_is_fixed(self) -> bool:
        return True

    @property
    @abstractmethod
    def product_order(self) -> Sequence[int]:
        """The products of a step, in the order in which they are added."""

    def fma(self, x: int, y: int, z: int) -> int:
        """x·y + z of fp32 codes, rounded once and flushed; subnormals are read as zeros, the first NaN is made quiet."""
        nan = first_nan((x, y, z), FP32)
        if nan is not None:
            return nan
        p, q, r = (flushed(FP32.decode(code)) for code in (x, y, z))
        special = combine((product_special(p, q), addend_special(r)))
        if special is not None:
            return encode_special(special, FP32, invalid_nan(FP32))
        terms = [self.multiply(p, q, PRODUCT_FRAC, 2 * FP32.e_min), self.addend(r, FP32, FP32.e_min)]
        return self.flushed_sum(terms, negative_zero=p.sign != q.sign and r.sign == 1)

    def add(self, x: int, y: int) -> int:
        """x + y of fp32 codes, by the same rules."""
        nan = first_nan((x, y), FP32)
        if nan is not None:
            return nan
        p, q = (flushed(FP32.decode(code)) for code in (x, y))
        special = combine((addend_special(p), addend_special(q)))
        if special is not None:
            return encode_special(special, FP32, invalid_nan(FP32))
        terms = [self.addend(r, FP32, FP32.e_min) for r in (p, q)]
        return self.flushed_sum(terms, negative_zero=p.sign == q.sign == 1)
