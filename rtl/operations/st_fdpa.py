"""ST-FDPA: T-FDPA under one power-of-two scale a block (golden: operations/st_fdpa.py)."""

from dataclasses import dataclass

from golden.arithmetic.formats import UE8M0
from golden.operations import STFDPA
from rtl.datapath import depths
from rtl.datapath.fused_records import Decoded, Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, multiply_pairs, place_scaled
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.interfaces import Special, Term
from rtl.steps.scale import ScaleProduct, ScaleSpecial


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
    """T-FDPA with the exponents of both scales added to each product's."""

    operation: STFDPA

    def multiply_depth(self) -> int:
        return super().multiply_depth() + depths.SCALE

    def term_steps(self) -> Steps[Operands, ScaledProducts]:
        return self.decoded().then(Step("multiply", self.multiply_depth(), self.multiply))

    def multiply(self, build: Build, decoded: Decoded) -> ScaledProducts:
        """Step multiply, and scale with it: exact products, the exponents of their block's scales added."""
        operation = self.operation
        # A zero product gets e_zero when it is scaled; which exponent it has before does not matter.
        products, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.product_exp_min, implementation=self.implementation
        )
        c, c_special = self.addend(build, decoded.z)
        terms, scaled_specials = [], []
        for k, (product, special) in enumerate(zip(products, specials, strict=True)):
            block = k // operation.K_block
            alpha, beta = decoded.alpha[block], decoded.beta[block]
            scale, scale_special = ScaleProduct(product.format, UE8M0, operation.e_zero), ScaleSpecial(UE8M0)
            place_scaled(build, f"scale_{k}", scale, alpha, beta)
            place_scaled(build, f"scale_special_{k}", scale_special, alpha, beta)
            build.drive(scale.prod, product)
            build.drive(scale_special.special, special)
            terms.append(scale.term)
            scaled_specials.append(scale_special.result)
        return ScaledProducts(c, tuple(terms), combine_specials(build, [*scaled_specials, c_special]))
