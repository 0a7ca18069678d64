"""E-FDPA: the exact fused dot product and add (CDNA1; paper 000, algorithm 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.conversion import conversion
from golden.formats import Format
from golden.operations.base import Operation, check_length
from golden.operations.ieee import exact_addend, exact_product, quiet_nan
from golden.specials import encode_special, sum_special
from golden.steps import decode


@dataclass(frozen=True, kw_only=True)
class EFDPA(Operation):
    """d = ρ(c + Σ a_k·b_k), the sum exact.

    Attributes:
        a, b, c: any multiplicand formats; c fp32, fp16 or bf16.
        L: products a step.
        rho: conversion of the sum (published: RNE-FP32).
    """

    name: ClassVar[str] = "E-FDPA"

    L: int
    rho: str = "RNE-FP32"

    def _validate(self) -> None:
        check_length(self.L)
        conversion(self.rho)

    @property
    def d(self) -> Format:
        return conversion(self.rho).d

    @property
    def length(self) -> int:
        return self.L

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = decode(self.a, a), decode(self.b, b), self.c.decode(c)
        special = sum_special(x, y, z)
        if special is not None:
            return encode_special(special, self.d, quiet_nan(self.d))
        # 1. exact terms, on one common exponent
        terms = [exact_product(p, self.a, q, self.b) for p, q in zip(x, y, strict=True)] + [exact_addend(z, self.c)]
        lsb = min(term.lsb for term in terms)
        # 2. accumulate
        total = sum((-term.magnitude if term.sign else term.magnitude) << (term.lsb - lsb) for term in terms)
        # 3. round; an exact zero is +0
        return conversion(self.rho).encode(total, lsb)
