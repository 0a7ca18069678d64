"""TR-FDPA: a truncated fused dot product, then a rounded sum with c (CDNA3 xf32, bf16, fp16; paper 000, algorithm 10,
with the second floor of numerics.md, section 5)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.arithmetic.conversion import CONVERSIONS, Conversion, check_conversion, conversion
from golden.arithmetic.formats import Cls, Decoded
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arithmetic.specials import Special, addend_special, combine, product_special, quiet_nan, scaled_special
from golden.arithmetic.steps import Term
from golden.operations.base import check_fraction, check_length, check_truncation
from golden.operations.blocks import BLOCK_KEYS, BlockScaled, scaled_product
from golden.operations.fused import FusedOperation
from golden.operations.structure import C, Cut, Partial, Structure, Sum, Summand, align, products

NO_PRODUCT_EXP = -999
"""e_dot of a dot product without a non-zero product (exponent value; numerics.md, section 5)."""

PRODUCT_OVERFLOW_EXP = 128
"""A product of magnitude 2**128 or more becomes an infinity (exponent value; paper 000, section 4.2)."""


@dataclass(frozen=True, kw_only=True)
class RoundedFDPA(BlockScaled):
    """The base of TR- and GTR-FDPA: the dot product T at e_dot first, then c, then two roundings.

    Attributes:
        L: products per step.
        F: fractional bits of an aligned product, and of c at E.
        F2: fractional bits of the normalised sum after truncation; T has F2 + 1 at E.
        rho: name of the conversion of the sum (published: RNE-FP32).
        truncation: how low bits of T, c and their sum are dropped, RD (published) or RZ; those of products always
            toward zero. RZ gives the hypothetical symmetric instruction of paper 000, figure 3.
        a, b: any multiplicand formats; c: fp32.
        The other keys: `BlockScaled` and `FusedOperation`. A product of 2**128 or more is an infinity for every value of
            `overflow`.
    """

    own_keys = (*BLOCK_KEYS, *FusedOperation.own_keys)

    L: int
    F: int
    F2: int
    rho: str = "RNE-FP32"
    truncation: Mode = "RD"

    def _accumulators(self) -> Collection[str]:
        return ("fp32",)

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_fraction("F", self.F)
        check_fraction("F2", self.F2)
        check_conversion(self.rho, CONVERSIONS)
        check_truncation(self.truncation, ("RZ", "RD"))
        self._check_blocks()
        if self.is_scaled and (lowest := self.scaled_exp_min) <= NO_PRODUCT_EXP:
            raise ValueError(
                f"exponents of scaled products must lie above {NO_PRODUCT_EXP}, that of a zero one; with scale = "
                f"{self.scale} the lowest is {lowest}"
            )

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

    @cached_property
    def structure(self) -> Structure:
        dot = self.dot_structure()
        terms = (Summand(Partial(len(dot) - 1, "T", "Ts"), self.F2 + 1), Summand(C, self.F, self.c.e_min, self.reach_of_c))
        last = Sum(
            of="T and c", alike="T and c", terms=terms, exponent="e_out", truncation=self.truncation,
            cut=Cut(self.F2, self.truncation), rounding=self.rounding,
        )  # fmt: skip
        return Structure(
            sums=(*dot, last), rho=self.conversion, flushed=self.flushed_formats, zero="exact", nan="quiet",
            product_limit=PRODUCT_OVERFLOW_EXP,
        )  # fmt: skip

    @property
    def reach_of_c(self) -> int | None:
        """How far c may lie below e_out and still count (exponent value); None if it always counts."""
        return None

    def dot_structure(self) -> tuple[Sum, ...]:
        """The sums that make T."""
        return (
            align(
                "products", products(range(self.L), scaled=self.is_scaled), self.F, "RZ", None, total="T", exponent="e_dot"
            ),
        )

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        factors = self.factors(x, y, scale_a, scale_b)
        special = combine([addend_special(z), *(self.product_special(*each) for each in factors)])
        if special is not None:
            return self.encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact products, under the scales of their block; e_dot ignores zero products
        products = []
        for p, q, *scales in factors:
            product = self.multiply(p, q, self.product_frac, NO_PRODUCT_EXP)
            products.append(self.scaled(product, *scales) if scales else product)
        # 2. T, the truncated sum of the products, in units of 2**(e_dot − F)
        dot, e_dot = self.dot_sum(products)
        # 3. the exponent of the sum with c; a zero c counts as e_min
        t_term, c_term = Term(dot, e_dot, self.F), self.addend(z, self.c, self.c.e_min)
        e_out = self.max_exp([t_term, c_term])
        # 4. T and c at e_out, added in units of 2**(e_out − lsb_frac)
        lsb_frac = max(self.F2 + 1, self.F)
        if self.drops_c(c_term.exp, e_out):
            c_term = c_term._replace(sig=0)
        t_aligned = self.align(t_term, e_out, self.F2 + 1, self.truncation)
        c_aligned = self.align(c_term, e_out, self.F, self.truncation)
        total = self.accumulate([t_aligned << (lsb_frac - self.F2 - 1), c_aligned << (lsb_frac - self.F)])
        # 5. normalise, truncate to F2 fractional bits there, convert
        kept, lsb = self.truncate(total, e_out - lsb_frac)
        if total < 0 and kept == 0:  # RZ truncated a negative sum to zero, which keeps its sign
            return self.d.negative_zero
        return self.converted(kept, lsb)

    def truncate(self, total: int, lsb: int) -> tuple[int, int]:
        """Step truncate: total · 2**lsb truncated to F2 fraction bits when normalised, and the exponent of its last bit."""
        e_norm = max(abs(total).bit_length() - 1 + lsb, self.c.e_min)
        return shift_and_round(total, e_norm - self.F2 - lsb, self.truncation), e_norm - self.F2

    def scaled(self, product: Term, alpha: Decoded, beta: Decoded) -> Term:
        """Step scale: the product times its block's scales, exponents added."""
        assert self.scale is not None
        return scaled_product(product, alpha, beta, self.scale, NO_PRODUCT_EXP)

    def product_special(self, p: Decoded, q: Decoded, *scales: Decoded) -> Special | None:
        """The special result of a product under its scales; a product that is too large before these is an infinity."""
        if product_special(p, q) is None and p.sig and q.sig:
            lsb = p.exp - self.a.man_bits + q.exp - self.b.man_bits
            if (p.sig * q.sig).bit_length() + lsb > PRODUCT_OVERFLOW_EXP:
                p = p._replace(cls=Cls.INFINITY)
        return scaled_special((p, q, *scales))

    def dot_sum(self, products: Sequence[Term]) -> tuple[int, int]:
        """The truncated sum of the products, in units of 2**(e_dot − F), and e_dot."""
        return self.truncated_sum(products)

    def truncated_sum(self, products: Sequence[Term]) -> tuple[int, int]:
        """Σ RZ_F(product at the largest exponent), in units of 2**(that exponent − F), and that exponent."""
        e_dot = self.max_exp(products)
        return self.accumulate(self.align(p, e_dot, self.F, "RZ") for p in products), e_dot

    def drops_c(self, c_exp: int, e_out: int) -> bool:
        """Whether c is too small to count."""
        return False


@dataclass(frozen=True, kw_only=True)
class TRFDPA(RoundedFDPA):
    """One group of L products. The keys: `RoundedFDPA`."""

    name: ClassVar[str] = "TR-FDPA"
    rank = 3
