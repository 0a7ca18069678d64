"""E-FDPA: the exact fused dot product and add (CDNA1; paper 000, algorithm 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.conversion import CONVERSIONS, Conversion, check_conversion, conversion
from golden.operations.base import check_length
from golden.operations.fused import FusedOperation
from golden.specials import quiet_nan, sum_special


@dataclass(frozen=True, kw_only=True)
class EFDPA(FusedOperation):
    """d = ρ(c + Σ a_k·b_k), the sum exact.

    Attributes:
        a, b, c: any multiplicand formats; c fp32, fp16 or bf16.
        L: products a step.
        rho: conversion of the sum (published: RNE-FP32).
        The other keys: `FusedOperation`.
    """

    name: ClassVar[str] = "E-FDPA"

    L: int
    rho: str = "RNE-FP32"

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_conversion(self.rho, CONVERSIONS)

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return self.L

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
        # 2. align to the lowest bit of them all, which drops nothing, and add
        total, lsb = self.exact_sum(terms)
        # 3. round; an exact zero is +0
        return self.converted(total, lsb)
