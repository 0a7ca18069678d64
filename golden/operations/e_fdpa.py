"""E-FDPA: the exact fused dot product and add (CDNA1; paper 000, algorithm 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from golden.arithmetic.conversion import CONVERSIONS, Conversion, check_conversion, conversion
from golden.arithmetic.specials import quiet_nan, sum_special
from golden.checks import check_choice
from golden.operations.base import check_length
from golden.operations.fused import FusedOperation
from golden.operations.ieee import is_zero_negative
from golden.operations.structure import C, Structure, exact, products

Zero = Literal["positive", "ieee"]

ZEROS: tuple[Zero, ...] = ("positive", "ieee")
"""The sign of an exact sum of zero: always positive, or that of IEEE 754, section 6.3."""


@dataclass(frozen=True, kw_only=True)
class EFDPA(FusedOperation):
    """d = ρ(c + Σ a_k·b_k), the sum exact.

    Attributes:
        a, b, c: any multiplicand formats; c fp32, fp16 or bf16.
        L: products per step.
        rho: conversion of the sum (published: RNE-FP32).
        zero: an exact sum of zero: `positive`, +0 (published); `ieee`, −0 where every product and c is negative, and where ρ
            rounds toward minus infinity, where any of them is (Arm).
        The other keys: `FusedOperation`.
    """

    name: ClassVar[str] = "E-FDPA"
    rank = 5
    own_keys = ("zero", *FusedOperation.own_keys)

    L: int
    rho: str = "RNE-FP32"
    zero: Zero = "positive"

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_conversion(self.rho, CONVERSIONS)
        check_choice("zero", self.zero, ZEROS)

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

    @cached_property
    def structure(self) -> Structure:
        return Structure(
            sums=(exact("products and c", (*products(range(self.L)), C), rounding=self.rounding),),
            rho=self.conversion, flushed=self.flushed_formats, zero="ieee" if self.zero == "ieee" else "exact", nan="quiet",
        )  # fmt: skip

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = sum_special(x, y, z)
        if special is not None:
            return self.encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact terms
        products = [self.multiply(p, q, self.product_frac, self.product_exp_min) for p, q in zip(x, y, strict=True)]
        terms = [*products, self.addend(z, self.c, self.c.e_min)]
        # 2. align to the lowest bit of all terms, which drops nothing, and add
        total, lsb = self.exact_sum(terms)
        # 3. round; the sign of an exact zero is the key's
        if total == 0 and self.zero == "ieee":
            signs = [p.sign ^ q.sign for p, q in zip(x, y, strict=True)]
            return self.d.negative_zero if is_zero_negative([*signs, z.sign], self.conversion.mode) else 0
        return self.converted(total, lsb)
