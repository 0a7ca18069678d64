"""The base of OC- and PS-FDPA, the dot products of RDNA, whose products count h exponents above their own (numerics.md,
section 5)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from golden.arithmetic.conversion import CONVERSIONS, TWO_STEP_CONVERSIONS, Conversion, check_conversion, conversion
from golden.arithmetic.formats import FP32, Cls, Decoded, Format
from golden.arithmetic.specials import (
    NAN,
    Special,
    addend_special,
    combine,
    factor_nan,
    first_nan,
    invalid_nan,
    product_special,
)
from golden.arithmetic.steps import Term, flushed, in_frame, raised
from golden.checks import check_int
from golden.operations.base import PUBLISHED_ACCUMULATORS, check_e_zero, check_fraction, check_length
from golden.operations.fused import FusedOperation
from golden.operations.structure import Structure, Sum

MAX_HEADROOM = 8
"""Upper limit of h (exponent value); the published one is 2."""


@dataclass(frozen=True, kw_only=True)
class HeadroomFDPA(FusedOperation):
    """Terms at one exponent e_max, which leaves h bits of headroom above the products; ρ of their sum; NaNs by their cause.

    Attributes:
        a, b: any multiplicand formats; c: the format of d.
        L: products per step.
        F: fraction bits of an aligned term at e_max (bits).
        h: how far a product that is not zero counts above its own exponent (exponent value).
        rho: name of the conversion of the sum (published: RNE-FP32, RNE-FP16, RNE-FP32-RZ-BF16).
        e_zero: exponent of a term with no significand (exponent value), a floor of e_max.
        flush_inputs: whether what is subnormal as an fp32 number (bf16, tf32, fp32) is read as a zero of its sign.
            Subnormals of formats with a smaller range, such as fp16, are kept.
        The other keys: `FusedOperation`.
    """

    # steps that a derived class may replace, like those of `Operation`
    raised = staticmethod(raised)
    in_frame = staticmethod(in_frame)

    L: int
    F: int
    h: int
    rho: str
    e_zero: int

    def _accumulators(self) -> Collection[str]:
        return PUBLISHED_ACCUMULATORS

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_fraction("F", self.F)
        check_int("h", self.h, 0, MAX_HEADROOM)
        check_conversion(self.rho, CONVERSIONS | TWO_STEP_CONVERSIONS)
        check_e_zero(self.e_zero)
        if self.c != self.d:
            raise ValueError(f"c of {self.name} must be {self.d}, the format of rho={self.rho}; got c={self.c}")

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

    def nan_is_fixed(self) -> bool:
        return True

    def decoded(self, a: Sequence[int], b: Sequence[int], c: int) -> tuple[list[Decoded], list[Decoded], Decoded]:
        """Step decode of the operands; with `flush_inputs`, what is subnormal in fp32 becomes a zero of its sign."""
        x, y, z = self.decode(self.a, a), self.decode(self.b, b), self.c.decode(c)
        if not self.flush_inputs:
            return x, y, z
        return self._flushed(self.a, x), self._flushed(self.b, y), self._flushed(self.c, [z])[0]

    def _flushed(self, operand: Format, decoded: Sequence[Decoded]) -> list[Decoded]:
        return [flushed(x) if operand.e_min == FP32.e_min else x for x in decoded]

    @property
    def flushed_formats(self) -> tuple[Format, ...]:
        return tuple(operand for operand in super().flushed_formats if operand.e_min == FP32.e_min)

    def aligned(self, last: Sum, groups: Sequence[Sum] = (), group: int | None = None) -> Structure:
        """The structure whose last sum, of products and c or of groups and c, is `last`."""
        return Structure(
            sums=(*groups, last), rho=self.conversion, flushed=self.flushed_formats, headroom=self.h, group=group,
            zero="positive", nan="cause",
        )  # fmt: skip

    def special(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, c: int) -> int | None:
        """The code of d if a term is not finite, by the first rule that applies; None if all are finite.

        Args:
            c: the code of z, whose payload a NaN result keeps.
        """
        if any(operand.cls is Cls.NAN for operand in (*x, *y)):
            return self.encode_special(NAN, self.d, factor_nan(self.d))
        products, quieted = combine(map(product_special, x, y)), first_nan((c,), self.d)
        if products != NAN and quieted is not None:
            return self.encode_special(NAN, self.d, quieted)
        total: Special | None = combine((products, addend_special(z)))
        return None if total is None else self.encode_special(total, self.d, invalid_nan(self.d))

    def exact_products(self, x: Sequence[Decoded], y: Sequence[Decoded]) -> list[Term]:
        """The exact products, h exponents above their own; a zero product has exponent e_zero."""
        products = [self.multiply(p, q, self.product_frac, self.e_zero) for p, q in zip(x, y, strict=True)]
        return [self.raised(product, self.h) for product in products]

    def converted(self, total: int, exp: int) -> int:
        """Steps normalise, round and encode: ρ of `total · 2**exp`. What rounds to zero is +0, before ρ drops any bits."""
        rho = self.conversion
        rounded = rho.rounded(total, exp, self.overflow, self.flush_results)
        return 0 if rho.rounding_format.decode(rounded).cls is Cls.ZERO else rho.stored(rounded)
