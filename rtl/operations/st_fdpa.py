"""ST-FDPA: T-FDPA under one scale a block (golden: operations/st_fdpa.py)."""

from dataclasses import dataclass

from golden.operations import STFDPA
from rtl.datapath import depths
from rtl.datapath.fused_records import Decoded, Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, multiply_pairs, scale_products
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.interfaces import Special, Term


@dataclass(frozen=True, eq=False)
class ScaledProducts(Terms):
    """Record after step multiply: scaled products and c."""

    c: Term
    term: tuple[Term, ...]
    special: Special

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.term, self.c)


class STFDPADatapath(TruncatedDatapath):
    """T-FDPA over products under the scales of their block."""

    operation: STFDPA

    def multiply_depth(self) -> int:
        return super().multiply_depth() + depths.SCALE

    def term_steps(self) -> Steps[Operands, ScaledProducts]:
        return self.decoded().then(Step("multiply", self.multiply_depth(), self.multiply))

    def multiply(self, build: Build, decoded: Decoded) -> ScaledProducts:
        """Step multiply, and scale with it: exact products under the scales of their block."""
        operation = self.operation
        # A zero product gets e_zero when it is scaled; which exponent it has before does not matter.
        products, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.product_exp_min, implementation=self.implementation
        )
        c, c_special = self.addend(build, decoded.z)
        block, e_zero = operation.K_block, operation.e_zero
        terms, of_terms = scale_products(build, products, specials, decoded, operation.scale, block, e_zero)
        return ScaledProducts(c, terms, combine_specials(build, [*of_terms, c_special]))
