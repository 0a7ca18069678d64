"""Sums of two terms, exact and rounded once: the building block of FMA and the flushed operations (golden:
`steps.exact_sum`, `ieee.rounded_sum`, `flushed_fma.flushed_sum`)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.flags import Tininess
from golden.arithmetic.rounding import Overflow
from golden.arithmetic.specials import nvidia_nan
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.conversion import Normalised, converted, normalised, special_code
from mmau.prove.specification.numbers import Number, all_of, any_of
from mmau.prove.specification.step_results import Aligned, Exponent, Special, Term, Total
from mmau.prove.specification.steps import accumulate, align

Underflow = Literal["gradual", "subnormal", "tiny"]
"""Results that become zeros of their sign: none; results that are subnormal after rounding; results that are tiny after
rounding with an unbounded exponent."""


@dataclass(frozen=True)
class Rounding:
    """The conversion of a sum into a code; `canonical` as in NVIDIA's units: one NaN, and every zero is +0. With `tininess`
    flags OF, UF and NX stand above the code."""

    rho: Conversion
    underflow: Underflow = "gradual"
    overflow: Overflow = "infinity"
    canonical: bool = False
    tininess: Tininess | None = None

    @property
    def spare(self) -> int:
        """Further low bits that flags need of a normalised sum."""
        return 0 if self.tininess is None else 1

    def code(self, total: Total, lsb: Number) -> Bits:
        """The code of a finite total in units of 2^lsb; the sign of a zero total counts."""
        flush = self.underflow == "tiny"
        code = converted(total, lsb, self.rho, self.overflow, flush, self.canonical, tininess=self.tininess)
        return without_subnormal(code, lsb, self.rho) if self.underflow == "subnormal" else code

    def normalised(self, total: Total, lsb: Number) -> Normalised:
        """The total before it is rounded."""
        return normalised(total.total, lsb, self.rho.rounding_format, self.underflow == "tiny", spare=self.spare)

    def result(self, finite: Bits, special: Special) -> Bits:
        """The code of a sum that may be special."""
        nan = nvidia_nan(self.rho.d) if self.canonical else self.rho.d.nan or 0
        otherwise = special_code(special, self.rho.d, nan)
        if self.tininess is not None:
            otherwise = special.nan.terms.joined([special.nan.terms.number(0, 3), otherwise])
        return special.nan.terms.choice(special.finite.bits, lambda: finite, lambda: otherwise)


def without_subnormal(code: Bits, lsb: Number, rho: Conversion) -> Bits:
    """A code, or the zero of its sign if it is subnormal (golden: `ftz_addmul.flush_result`)."""
    terms, d = lsb.terms, rho.d
    stored = Number.read(terms, terms.part(code, d.width - 2, d.man_bits), 0, (1 << d.exp_bits) - 1, signed=False)
    zero = terms.joined([terms.part(code, d.width - 1, d.width - 1), terms.number(0, d.width - 1)])
    return terms.choice(stored.is_zero().bits, lambda: zero, lambda: code)


class OnceRounded(ABC):
    """An exact sum that is rounded once.

    Attributes:
        terms: the terms. rounding: the rounding of the sum.
    """

    terms: Sequence[Term]
    rounding: Rounding

    @abstractmethod
    def signed(self, total: Total) -> Total:
        """A total with the sign that an exact zero has."""

    @abstractmethod
    def code(self) -> Bits:
        """The rounded sum if it is finite."""

    @abstractmethod
    def rounded_by(self, rounding: Rounding) -> "OnceRounded":
        """The same sum with another rounding."""


@dataclass(frozen=True)
class RoundedSum(OnceRounded):
    """The sum of two terms, rounded once.

    Attributes:
        terms, specials: the terms, and their flags for values that are not finite.
        largest: an exponent that no term's exponent exceeds.
        rounding: the rounding of the sum.
    """

    terms: tuple[Term, Term]
    specials: tuple[Special, Special]
    largest: Exponent
    rounding: Rounding

    def rounded_by(self, rounding: Rounding) -> "RoundedSum":
        """The same sum with another rounding."""
        return replace(self, rounding=rounding)

    @property
    def F(self) -> int:
        """Fraction bits at the largest exponent with which neither term loses a bit."""
        x, y = self.terms
        return max(x.frac + max(0, y.exp.high - x.exp.low), y.frac + max(0, x.exp.high - y.exp.low))

    def aligned(self) -> list[Aligned]:
        """Both terms in units of the exact sum."""
        return [align(term, self.largest.e_max, self.F, "RZ") for term in self.terms]

    def exact(self) -> tuple[Total, Number]:
        """The sum, and the exponent of its last bit."""
        return accumulate(self.aligned()), self.largest.e_max - self.F

    def signed(self, total: Total) -> Total:
        """A total with the sign that an exact zero has."""
        return with_sign_of_zero(total, self.terms, self.rounding.rho.mode)

    def code(self) -> Bits:
        """The rounded sum if it is finite."""
        total, lsb = self.exact()
        return self.rounding.code(self.signed(total), lsb)


def with_sign_of_zero(total: Total, summed: Sequence[Term], mode: str) -> Total:
    """A total with IEEE 754's sign of an exact zero: negative if all terms are, toward minus infinity (RD) if any is
    (golden: `ieee.is_zero_negative`)."""
    signs = [term.sign for term in summed]
    negative = any_of(signs) if mode == "RD" else all_of(signs)
    return Total(total.sign | (negative & total.total.is_zero()), total.total)


def lifted(term: Term, places: int) -> Term:
    """The same number with an exponent larger by `places` and as many more fraction bits."""
    return replace(term, exp=term.exp + places, frac=term.frac + places)
