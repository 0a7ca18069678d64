"""ST-FDPA: T-FDPA with one power-of-two scale per block (MXFP8/6/4; paper 000, algorithm 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.arithmetic.formats import UE8M0, Decoded, Format
from golden.arithmetic.steps import Term
from golden.operations.blocks import check_block
from golden.operations.t_fdpa import TruncatedFDPA


@dataclass(frozen=True, kw_only=True)
class STFDPA(TruncatedFDPA):
    """T-FDPA with e_k = e_a + e_b + e_α + e_β for the products.

    Attributes:
        K_block: elements that share a scale (MX: 32).
        a, b, c: as in T-FDPA; the scales are ue8m0.
    """

    name: ClassVar[str] = "ST-FDPA"
    rank = 1

    K_block: int = 32

    def _validate(self) -> None:
        super()._validate()
        check_block(self.K_block, self.L)

    @property
    def scale_format(self) -> Format:
        return UE8M0

    @property
    def block_size(self) -> int:
        return self.K_block

    def terms(
        self, x: Sequence[Decoded], y: Sequence[Decoded], alpha: Sequence[Decoded], beta: Sequence[Decoded]
    ) -> list[Term]:
        """The exact products; the exponents of their block's scales are added to theirs."""
        terms = []
        for k, (p, q) in enumerate(zip(x, y, strict=True)):
            product = self.multiply(p, q, self.product_frac, self.e_zero)
            block = k // self.K_block
            terms.append(self.scaled(product, alpha[block], beta[block]))
        return terms

    def scaled(self, product: Term, alpha: Decoded, beta: Decoded) -> Term:
        """Step scale: add the exponents of the block's scales to a product's exponent; a zero product keeps its exponent."""
        return product._replace(exp=product.exp + alpha.exp + beta.exp) if product.sig else product
