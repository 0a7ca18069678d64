"""T-FDPA: the truncated fused dot product and add of NVIDIA's tensor cores (paper 000, algorithm 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.arithmetic.conversion import Conversion, check_rounding, conversion
from golden.arithmetic.formats import Cls, Decoded
from golden.arithmetic.rounding import Mode
from golden.arithmetic.specials import Special, addend_special, combine, nvidia_nan, scaled_special, sum_special
from golden.arithmetic.steps import Term, add_sticky, is_truncated
from golden.operations.base import check_e_zero, check_flag, check_fraction, check_length, check_truncation
from golden.operations.fused import FusedOperation
from golden.operations.structure import C, Node, Structure, Sum, align, products

TRUNCATIONS: tuple[Mode, ...] = ("RZ", "RD", "RO")
"""Ways to drop the bits of a term."""


@dataclass(frozen=True, kw_only=True)
class TruncatedFDPA(FusedOperation):
    """The base of T-, ST- and GST-FDPA: terms and c, truncated to F bits at one exponent, summed, converted by ρ.

    Attributes:
        L: products per step.
        F: fractional bits of an aligned term.
        rho: name of the conversion of the sum; it determines the format of d.
        e_zero: exponent of a term with no significand (exponent value), a floor of e_max.
        truncation: how the bits of a term below F are dropped: RZ, RD, or RO, which sets the last bit if a 1 is dropped.
        sticky: whether ρ sees that alignment dropped bits; not with `truncation` RO, which records that in every term.
        The other keys: `FusedOperation`.
    """

    own_keys = ("sticky", *FusedOperation.own_keys)

    L: int
    F: int
    rho: str | Conversion
    e_zero: int
    truncation: Mode = "RZ"
    sticky: bool = False

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_fraction("F", self.F)
        check_rounding(self.rho)
        check_e_zero(self.e_zero)
        check_truncation(self.truncation, TRUNCATIONS)
        check_flag("sticky", self.sticky)
        if self.sticky and self.truncation == "RO":
            raise ValueError(
                "sticky must be false where truncation is RO, which keeps what is lost in the term; got sticky=true"
            )

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

    def nan_is_fixed(self) -> bool:
        return True

    @cached_property
    def structure(self) -> Structure:
        terms = products(range(self.L), scaled=self.scale_format is not None)
        return self.aligned("products and c", terms)

    def aligned(self, of: str, terms: Sequence[Node], groups: Sequence[Sum] = (), group: int | None = None) -> Structure:
        """The structure in which `terms`, some of which may be totals of `groups`, are aligned with c."""
        last = align(of, (*terms, C), self.F, self.truncation, self.e_zero, rounding=self.rounding)
        return Structure(
            sums=(*groups, last), rho=self.conversion, flushed=self.flushed_formats, group=group, sticky=self.sticky,
            zero="positive", nan="ones",
        )  # fmt: skip

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        alpha, beta = self.decoded_scales("scale_a", scale_a), self.decoded_scales("scale_b", scale_b)
        special = self.special(x, y, z, alpha, beta)
        if special is not None:
            return self.encode_special(special, self.d, nvidia_nan(self.d))
        # 1. exact terms; one without a significand has exponent e_zero
        terms = [*self.terms(x, y, alpha, beta), self.addend(z, self.c, self.e_zero)]
        # 2. the largest exponent
        e_max = self.max_exp(terms)
        # 3. align each term, truncate it to F bits, add exactly
        total, lsb = self.accumulate(self.align(term, e_max, self.F, self.truncation) for term in terms), e_max - self.F
        if self.sticky and total and any(is_truncated(term, e_max, self.F) for term in terms):
            total, lsb = add_sticky(total, lsb, self.truncation, self.conversion.rounding_format.man_bits)
        # 4. convert; a zero of either sign becomes +0
        d = self.converted(total, lsb)
        return 0 if self.d.decode(d).cls is Cls.ZERO else d

    def special(
        self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, alpha: Sequence[Decoded], beta: Sequence[Decoded]
    ) -> Special | None:
        """The sum if a term is not finite; None if all are finite."""
        if self.block_size is None:
            return sum_special(x, y, z)
        blocks = [k // self.block_size for k in range(len(x))]
        factors = ((x[k], y[k], alpha[block], beta[block]) for k, block in enumerate(blocks))
        return combine([addend_special(z), *map(scaled_special, factors)])

    def terms(
        self, x: Sequence[Decoded], y: Sequence[Decoded], alpha: Sequence[Decoded], beta: Sequence[Decoded]
    ) -> list[Term]:
        """The terms that are added to c: here, the exact products."""
        return [self.multiply(p, q, self.product_frac, self.e_zero) for p, q in zip(x, y, strict=True)]


@dataclass(frozen=True, kw_only=True)
class TFDPA(TruncatedFDPA):
    """d = ρ(2^e_max · Σ RZ_F(term at e_max)) over L exact products and c.

    a, b: any floating-point formats; c: one with a sign (published: fp32, fp16 or bf16). The other keys: `TruncatedFDPA`.
    """

    name: ClassVar[str] = "T-FDPA"
    rank = 0
