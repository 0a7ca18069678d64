"""ST-FDPA: T-FDPA under one power-of-two scale a block (golden: operations/st_fdpa.py)."""

from golden import Implementation
from golden.formats import UE8M0
from golden.operations import STFDPA
from rtl.datapath import depths
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle, flatten
from rtl.datapath.stages import combine_specials, multiply_pairs
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.multiply import Multiply, product_shape
from rtl.steps.scale import ScaleProduct, ScaleSpecial, place_scale, scaled_shape
from rtl.steps.shapes import TermShape


class STFDPADatapath(TruncatedDatapath):
    """T-FDPA with the exponents of both scales added to each product's."""

    def __init__(self, operation: STFDPA, implementation: Implementation) -> None:
        # The multipliers' own zero exponent is never seen: a zero gets e_zero when it is scaled.
        self._zero_exp = operation.a.e_min + operation.b.e_min
        self._k_block = operation.K_block
        super().__init__(operation, implementation)

    def term_shapes(self) -> dict[str, TermShape]:
        shape = product_shape(self.operation.a, self.operation.b, self._zero_exp)
        scaled = scaled_shape(shape, UE8M0, self.operation.e_zero)
        return {f"term_{k}": scaled for k in range(self.operation.L)}

    def multiply_depth(self) -> int:
        return super().multiply_depth() + depths.SCALE

    def multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.L)]
        products = multiply_pairs(build, values, parts)
        terms = self.with_c(build, values)
        for k, multiply in enumerate(parts):
            block = k // self._k_block
            scale, special = ScaleProduct(multiply.shape, UE8M0, operation.e_zero), ScaleSpecial(UE8M0)
            place_scale(build, f"scale_{k}", scale, block, values)
            place_scale(build, f"scale_special_{k}", special, block, values)
            build.drive(scale.prod, f"prod_{k}", products)
            build.drive(special.special, f"special_{k}", products)
            terms |= flatten(f"term_{k}", scale.term) | flatten(f"special_{k}", special.result)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])
