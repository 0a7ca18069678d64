"""E-FDPA: the exact fused dot product and add (CDNA1; paper 000, algorithm 6)."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from golden.arithmetic.conversion import Conversion, check_rounding, conversion
from golden.checks import check_choice
from golden.operations.base import check_length
from golden.operations.exact_sum import ExactSum
from golden.operations.structure import C, Structure, exact, products

Zero = Literal["positive", "ieee"]

ZEROS: tuple[Zero, ...] = ("positive", "ieee")
"""The sign of an exact sum of zero: always positive, or that of IEEE 754, section 6.3."""


@dataclass(frozen=True, kw_only=True)
class EFDPA(ExactSum):
    """d = ρ(c + Σ a_k·b_k), the sum exact.

    Attributes:
        a, b, c: any floating-point formats, of c with a sign (published: fp32, fp16 or bf16).
        L: products per step.
        rho: conversion of the sum (published: RNE-FP32).
        zero: an exact sum of zero: `positive`, +0 (published); `ieee`, −0 where every product and c is negative, and where ρ
            rounds toward minus infinity, where any of them is (Arm).
        The other keys: `ExactSum`.
    """

    name: ClassVar[str] = "E-FDPA"
    rank = 5
    own_keys = ("zero", *ExactSum.own_keys)

    L: int
    rho: str | Conversion = "RNE-FP32"
    zero: Zero = "positive"

    def _validate(self) -> None:
        super()._validate()
        check_length(self.L)
        check_rounding(self.rho)
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
