"""GTR-FDPA: TR-FDPA over two groups, the even and the odd products (CDNA3 FP8; paper 000, algorithm 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from golden.arithmetic.steps import Term
from golden.operations.structure import Partial, Sum, align, products
from golden.operations.tr_fdpa import RoundedFDPA


@dataclass(frozen=True, kw_only=True)
class GTRFDPA(RoundedFDPA):
    """TR-FDPA with separate sums of the even and odd products, each at its largest exponent. The keys: `RoundedFDPA`."""

    name: ClassVar[str] = "GTR-FDPA"
    rank = 4

    @property
    def reach_of_c(self) -> int:
        return self.F + 1

    def dot_structure(self) -> tuple[Sum, ...]:
        groups = [
            align(
                f"{name} products", products(range(first, self.L, 2), scaled=self.is_scaled), self.F, "RZ", None,
                total=f"{name} products", alike="products" if self.L == 1 else "",
            )
            for first, name in enumerate(("even", "odd"))
            if first < self.L
        ]  # fmt: skip
        sums = [Partial(n, "sum", "sums") for n in range(len(groups))]
        both = align("groups", sums, self.F, self.truncation, None, alike="both sums", total="T", exponent="e_dot")
        return (*groups, both)

    def dot_sum(self, products: Sequence[Term]) -> tuple[int, int]:
        """Both groups' truncated sums, truncated again at the larger of their exponents, and that exponent."""
        groups = [self.truncated_sum(group) for group in (products[::2], products[1::2]) if group]
        sums = [Term(total, exp, self.F) for total, exp in groups]
        e_dot = self.max_exp(sums)
        return self.accumulate(self.align(group, e_dot, self.F, self.truncation) for group in sums), e_dot

    def drops_c(self, c_exp: int, e_out: int) -> bool:
        """Whether c lies more than F + 1 exponents below e_out; it then counts as 0."""
        return c_exp < e_out - self.F - 1
