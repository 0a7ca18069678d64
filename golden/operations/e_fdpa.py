"""E-FDPA: the exact fused dot product and add (CDNA1; paper 000, algorithm 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from golden.arithmetic.conversion import Conversion, check_rounding, conversion
from golden.arithmetic.formats import Decoded
from golden.arithmetic.specials import addend_special, combine, quiet_nan, scaled_special
from golden.arithmetic.steps import Term
from golden.checks import check_choice
from golden.operations.base import check_length
from golden.operations.blocks import BLOCK_KEYS, BlockScaled, scaled_product
from golden.operations.exact_sum import ExactSum
from golden.operations.ieee import is_zero_negative
from golden.operations.structure import C, Structure, exact, products

Zero = Literal["positive", "ieee"]

ZEROS: tuple[Zero, ...] = ("positive", "ieee")
"""The sign of an exact sum of zero: always positive, or that of IEEE 754, section 6.3."""


@dataclass(frozen=True, kw_only=True)
class EFDPA(ExactSum, BlockScaled):
    """d = ρ(c + Σ a_k·b_k), the sum exact; with scales, those of its block are factors of each product.

    Attributes:
        a, b, c: any floating-point formats, of c with a sign (published: fp32, fp16 or bf16).
        L: products per step.
        rho: conversion of the sum (published: RNE-FP32).
        zero: an exact sum of zero: `positive`, +0 (published); `ieee`, −0 where every product and c is negative, and where ρ
            rounds toward minus infinity, where any of them is (Arm).
        The other keys: `ExactSum`, whose flags are of sums without scales, and `BlockScaled`.
    """

    name: ClassVar[str] = "E-FDPA"
    rank = 5
    own_keys = ("zero", *BLOCK_KEYS, *ExactSum.own_keys)

    L: int
    rho: str | Conversion = "RNE-FP32"
    zero: Zero = "positive"

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_rounding(self.rho)
        check_choice("zero", self.zero, ZEROS)
        self._check_blocks()
        if self.is_scaled and self.flags:
            self.check_flags()

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

    @cached_property
    def structure(self) -> Structure:
        return Structure(
            sums=(exact("products and c", (*products(range(self.L), scaled=self.is_scaled), C), rounding=self.rounding),),
            rho=self.conversion, flushed=self.flushed_formats, zero="ieee" if self.zero == "ieee" else "exact", nan="quiet",
        )  # fmt: skip

    def check_flags(self) -> None:
        super().check_flags()
        if self.is_scaled:
            raise ValueError(f"flags are not defined for sums under scales; got scale = {self.scale}")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        if self.scale is None:
            return super().step(a, b, c)
        x, y, z = self.decoded(a, b, c)
        factors = self.factors(x, y, scale_a, scale_b)
        special = combine([addend_special(z), *map(scaled_special, factors)])
        if special is not None:
            return self.encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact products, under the scales of their block, and c, added without loss
        products = [self.scaled(p, *each[2:]) for p, each in zip(self._products(x, y), factors, strict=True)]
        total, lsb = self.exact_sum([*products, self.addend(z, self.c, self.c.e_min)])
        # 2. round; an exact zero may have its sign from its terms, of a product from all of its factors
        if total == 0 and self.zero == "ieee":
            signs = [sum(factor.sign for factor in each) % 2 for each in factors]
            return self.d.negative_zero if is_zero_negative([*signs, z.sign], self.conversion.mode) else 0
        return self.converted(total, lsb)

    def scaled(self, product: Term, alpha: Decoded, beta: Decoded) -> Term:
        """Step scale: the product times its block's scales, exponents added."""
        assert self.scale is not None
        return scaled_product(product, alpha, beta, self.scale, self.scaled_exp_min)
