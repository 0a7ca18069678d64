"""E-FDPA: the exact fused dot product and add (golden: operations/e_fdpa.py)."""

from golden import Implementation
from golden.conversion import conversion
from golden.operations import EFDPA
from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.finish import Finish
from rtl.datapath.pipeline import Bundle
from rtl.datapath.stages import accumulator_term, combine_specials, decode_operands, multiply_pairs
from rtl.steps.multiply import Accumulator, Multiply, product_shape


class EFDPADatapath(Datapath):
    """d = ρ(c + Σ a_k·b_k): every term stands at its place in a sum that is wide enough for all of them."""

    def __init__(self, operation: EFDPA, implementation: Implementation) -> None:
        self.operation = operation
        self._zero_exp = operation.a.e_min + operation.b.e_min
        self._accumulator = Accumulator(operation.c, operation.c.e_min)
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        operation = self.operation
        product = product_shape(operation.a, operation.b, self._zero_exp)
        shapes = {f"prod_{k}": product for k in range(operation.L)} | {"c": self._accumulator.shape}
        highest = max(shape.exps.high for shape in shapes.values())
        lowest_bit = min(shape.exps.low - shape.frac for shape in shapes.values())
        exact = highest - lowest_bit
        addends = [Addend(name=name, shape=shape, F=exact, truncation="RZ") for name, shape in shapes.items()]
        total = AlignedSum("sum", addends, self.implementation, fixed_exp=highest, normalised=True)
        rho = conversion(operation.rho)
        finish = Finish("sum", total.term, rho, self.implementation, canonical=False)
        return [
            Step("decode", depths.DECODE, self._decode),
            Step("multiply", depths.multiply(operation.a, operation.b), self._multiply),
            Step("max_exp", 0, total.max_exp),  # the exponent of every sum is fixed
            Step("align", depths.ALIGN, total.align),
            Step("accumulate", 2 * depths.accumulate(len(shapes)), total.accumulate),  # hundreds of bits
            Step("normalise", depths.NORMALISE, finish.normalise),
            Step("encode", depths.encode(rho), finish.encode),
        ]

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        return decode_operands(build, values, self.operation)

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.L)]
        terms = multiply_pairs(build, values, parts) | accumulator_term(build, values, self._accumulator)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])
