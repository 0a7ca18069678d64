"""ST-FDPA: T-FDPA with one scale per block (MXFP8/6/4; paper 000, algorithm 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.arithmetic.formats import UE8M0, Decoded, Format
from golden.arithmetic.steps import Term
from golden.operations.blocks import SCALES, check_block, check_scales, scale_of, scaled_product
from golden.operations.t_fdpa import TruncatedFDPA


@dataclass(frozen=True, kw_only=True)
class STFDPA(TruncatedFDPA):
    """T-FDPA with e_k = e_a + e_b + e_α + e_β for the products, whose significands the scales' multiply.

    Attributes:
        K_block: elements that share a scale (MX: 32).
        scale: any floating-point format of at most 32 bits (published: ue8m0).
        scales: which of a and b have scales: `both` (published), `a` or `b`.
        a, b, c: as in T-FDPA.
    """

    name: ClassVar[str] = "ST-FDPA"
    rank = 1
    own_keys = ("scale", "scales", *TruncatedFDPA.own_keys)
    golden_alone = ("scales",)

    K_block: int = 32
    scale: Format = UE8M0
    scales: str = "both"

    def _validate(self) -> None:
        super()._validate()
        object.__setattr__(self, "scale", scale_of(self.scale))
        check_scales(self.scales, self.scale)
        check_block(self.K_block, self.L)

    @property
    def scale_format(self) -> Format:
        return self.scale

    @property
    def block_size(self) -> int:
        return self.K_block

    @property
    def scale_operands(self) -> tuple[str, ...]:
        return SCALES[self.scales]

    def terms(
        self, x: Sequence[Decoded], y: Sequence[Decoded], alpha: Sequence[Decoded], beta: Sequence[Decoded]
    ) -> list[Term]:
        """The exact products under the scales of their block."""
        terms = []
        for k, (p, q) in enumerate(zip(x, y, strict=True)):
            product = self.multiply(p, q, self.product_frac, self.e_zero)
            block = k // self.K_block
            terms.append(self.scaled(product, alpha[block], beta[block]))
        return terms

    def scaled(self, product: Term, alpha: Decoded, beta: Decoded) -> Term:
        """Step scale: the product times its block's scales, exponents added; a zero one has exponent e_zero."""
        return scaled_product(product, alpha, beta, self.scale, self.e_zero)
