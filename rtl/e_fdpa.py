"""E-FDPA: the exact fused dot product and add (golden: operations/e_fdpa.py)."""

from golden import Implementation
from golden.conversion import conversion
from golden.operations import EFDPA
from rtl.aligned_sum import Addend, AlignedSum
from rtl.datapath import Build, Datapath, Step
from rtl.finish import Finish
from rtl.multiply import Accumulator, Multiply, product_shape
from rtl.pipeline import Bundle
from rtl.vectors import accumulator_term, combine_specials, decode_operands, multiply_pairs


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
        finish = Finish("sum", total.term, conversion(operation.rho), self.implementation, canonical=False)
        return [
            Step("decode", 8, self._decode),
            Step("multiply", 40, self._multiply),
            Step("max_exp", 0, total.max_exp),
            Step("align", 30, total.align),
            Step("accumulate", 90, total.accumulate),
            Step("normalise", 60, finish.normalise),
            Step("encode", 22, finish.encode),
        ]

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        return decode_operands(build, values, self.operation)

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.L)]
        terms = multiply_pairs(build, values, parts) | accumulator_term(build, values, self._accumulator)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])
