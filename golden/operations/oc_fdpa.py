"""OC-FDPA: the fused dot product and add of RDNA3, in one's complement (numerics.md, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.structure import C, Node, Structure, align, products


@dataclass(frozen=True, kw_only=True)
class OCFDPA(HeadroomFDPA):
    """Magnitudes RZ_F(term at e_max), added in the sign frame of c: of the other sign, a term t enters as −t − 1, zeros too.

    The keys: `HeadroomFDPA`.
    """

    name: ClassVar[str] = "OC-FDPA"
    rank = 11

    @cached_property
    def structure(self) -> Structure:
        terms: tuple[Node, ...] = (*products(range(self.L), self.h), C)
        return self.aligned(align("products and c", terms, self.F, "RZ", self.e_zero, in_frame=True, rounding=self.rounding))

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = self.special(x, y, z, c)
        if special is not None:
            return special
        # 1. exact terms; a product counts h exponents above its own
        terms = [*self.exact_products(x, y), self.addend(z, self.c, self.e_zero)]
        # 2. the largest exponent
        e_max = self.max_exp(terms)
        # 3. align each term, truncate its magnitude to F bits
        aligned = [self.align(term, e_max, self.F, "RZ") for term in terms]
        # 4. add in the sign frame of c, where a product of the other sign is inverted, without an increment
        signs = [*(p.sign ^ q.sign for p, q in zip(x, y, strict=True)), z.sign]
        total = self.accumulate(self.in_frame(term, sign != z.sign) for term, sign in zip(aligned, signs, strict=True))
        # 5. out of the frame, convert; a zero is +0
        return self.converted(-total if z.sign else total, e_max - self.F)
