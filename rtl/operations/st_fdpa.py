"""ST-FDPA: T-FDPA under one scale a block (golden: operations/st_fdpa.py)."""

from dataclasses import dataclass

from golden.operations import STFDPA
from rtl.datapath import depths
from rtl.datapath.fused_records import Decoded, Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, multiply_pairs, place_scale_special, place_scaled
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.interfaces import Special, Term
from rtl.steps.scale import ScaleProduct


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
        terms, scaled_specials = [], []
        for k, (product, special) in enumerate(zip(products, specials, strict=True)):
            scales = decoded.scales(k // operation.K_block)
            scale = ScaleProduct(product.format, operation.scale, operation.e_zero, tuple(scales))
            place_scaled(build, f"scale_{k}", scale, scales)
            build.drive(scale.prod, product)
            terms.append(scale.term)
            scaled_specials.append(place_scale_special(build, k, operation.scale, product, special, scales))
        return ScaledProducts(c, tuple(terms), combine_specials(build, [*scaled_specials, c_special]))
