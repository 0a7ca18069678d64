"""GST-FDPA: exact dot products of groups, scaled, then summed as in T-FDPA (MXFP4, NVFP4; paper 000, algorithm 9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.arithmetic.formats import Decoded, Format
from golden.arithmetic.steps import Term, signed_sig
from golden.checks import check_int
from golden.operations.base import MAX_LENGTH
from golden.operations.blocks import SCALES, check_block, check_scales, scale_of
from golden.operations.structure import Partial, Structure, exact, products
from golden.operations.t_fdpa import TruncatedFDPA


@dataclass(frozen=True, kw_only=True)
class GSTFDPA(TruncatedFDPA):
    """d = ρ(2^e_max · Σ RZ_F(group at e_max)) over L/G scaled groups and c.

    Attributes:
        G: products per group, summed exactly; divides L and K_block.
        K_block: elements that share a scale.
        scale: any floating-point format of at most 32 bits (published: ue8m0 and ue4m3).
        scales: which of a and b have scales: `both` (published), `a` or `b`.
        a, b, c: as in T-FDPA (published: a and b e2m1).
    """

    name: ClassVar[str] = "GST-FDPA"
    rank = 2
    own_keys = ("scales", *TruncatedFDPA.own_keys)
    golden_alone = ("scales",)

    G: int
    K_block: int
    scale: Format
    scales: str = "both"

    def _validate(self) -> None:
        super()._validate()
        object.__setattr__(self, "scale", scale_of(self.scale))
        check_scales(self.scales, self.scale)
        check_int("G", self.G, 1, MAX_LENGTH)
        check_block(self.K_block, self.L)
        if self.L % self.G:
            raise ValueError(f"G must divide L; got G={self.G}, L={self.L}")
        if self.K_block % self.G:
            raise ValueError(f"G must divide K_block; got G={self.G}, K_block={self.K_block}")

    @property
    def scale_format(self) -> Format:
        return self.scale

    @property
    def block_size(self) -> int:
        return self.K_block

    @property
    def scale_operands(self) -> tuple[str, ...]:
        return SCALES[self.scales]

    @cached_property
    def structure(self) -> Structure:
        groups = [
            exact(f"products of group {n}", products(range(n * self.G, (n + 1) * self.G)), alike="products of a group",
                  total=f"group {n}")
            for n in range(self.L // self.G)
        ]  # fmt: skip
        terms = [Partial(n, "group", "groups", scaled=True) for n in range(len(groups))]
        return self.aligned("groups and c", terms, groups, self.G)

    def terms(
        self, x: Sequence[Decoded], y: Sequence[Decoded], alpha: Sequence[Decoded], beta: Sequence[Decoded]
    ) -> list[Term]:
        """One term per group: its exact dot product times the scales' significands, at the scales' exponent."""
        terms = []
        for start in range(0, self.L, self.G):
            group = range(start, start + self.G)
            block = start // self.K_block
            terms.append(self.group_term([(x[k], y[k]) for k in group], alpha[block], beta[block]))
        return terms

    def group_term(self, pairs: Sequence[tuple[Decoded, Decoded]], alpha: Decoded, beta: Decoded) -> Term:
        """Steps multiply and scale of one group."""
        products = [self.multiply(p, q, self.product_frac, self.product_exp_min) for p, q in pairs]
        total, lsb = self.exact_sum(products)
        frac = 2 * self.scale.man_bits - lsb
        if not any(product.sig for product in products) or not alpha.sig or not beta.sig:
            return Term(0, self.e_zero, frac)
        # A group whose products cancel keeps its exponent (numerics.md, section 5).
        return Term(total * signed_sig(alpha) * signed_sig(beta), alpha.exp + beta.exp, frac)
