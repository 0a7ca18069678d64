"""PS-FDPA: the fused dot product and add of RDNA4, over sums of neighbouring products (numerics.md, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.arithmetic.steps import Term
from golden.checks import check_int
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.structure import C, Partial, Structure, Sum, Summand, align, products


@dataclass(frozen=True, kw_only=True)
class PSFDPA(HeadroomFDPA):
    """Sums of P neighbouring products, RD_F at the largest exponent of each group; they and c, RD_F at e_max, added.

    Attributes:
        P: products of a group; L is a multiple of it.
        The other keys: `HeadroomFDPA`.
    """

    name: ClassVar[str] = "PS-FDPA"
    rank = 12

    P: int

    def _validate(self) -> None:
        super()._validate()
        check_int("P", self.P, 1, self.L)
        if self.L % self.P:
            raise ValueError(f"L must be a multiple of P={self.P}, got {self.L}")

    @cached_property
    def structure(self) -> Structure:
        groups = [
            align(
                f"products of group {n}", products(range(n * self.P, (n + 1) * self.P), self.h), self.F, "RD", self.e_zero,
                alike="neighbouring products", total=f"group {n}", exponent="e_group",
            )
            for n in range(self.L // self.P)
        ]  # fmt: skip
        terms = [*(Summand(Partial(n, "group", "groups"), self.F, self.e_zero) for n in range(len(groups))),
                 Summand(C, self.F, self.e_zero, reach=self.F)]  # fmt: skip
        last = Sum(
            of="groups and c", alike="groups and c", terms=tuple(terms), exponent="e_max", truncation="RD",
            rounding=self.rounding,
        )  # fmt: skip
        return self.aligned(last, groups, self.P)

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = self.special(x, y, z, c)
        if special is not None:
            return special
        # 1. exact products, h exponents above their own
        products = self.exact_products(x, y)
        # 2. the sum of each group, in units of 2**(its largest exponent − F)
        sums = [self.group_sum(products[k : k + self.P]) for k in range(0, self.L, self.P)]
        # 3. the largest exponent
        c_term = self.addend(z, self.c, self.e_zero)
        e_max = self.max_exp([*sums, c_term])
        # 4. align sums and c, add exactly; a c that lies wholly below the grid counts as 0
        if c_term.exp < e_max - self.F:
            c_term = c_term._replace(sig=0)
        total = self.accumulate(self.align(term, e_max, self.F, "RD") for term in (*sums, c_term))
        # 5. convert; a zero is +0
        return self.converted(total, e_max - self.F)

    def group_sum(self, products: Sequence[Term]) -> Term:
        """Σ RD_F(product at the largest exponent) of a group, as a term at that exponent."""
        e_group = self.max_exp(products)
        return Term(self.accumulate(self.align(p, e_group, self.F, "RD") for p in products), e_group, self.F)
