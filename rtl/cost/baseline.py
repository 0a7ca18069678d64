"""A benchmark, no unit: the dot product from separate multipliers and adders, made of the same parts as the fused units."""

from golden import Implementation
from golden.operations import EFDPA
from rtl.datapath import depths
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.pipeline import Bundle, kept
from rtl.datapath.rounded_adder import RNE_FP32, RoundedAdder, products_to_fp32
from rtl.datapath.stages import decode, multiply_pairs
from rtl.steps.multiply import Multiply, product_shape


class DiscreteDatapath(Datapath):
    """d = (…((c + a_0·b_0) + a_1·b_1) + …): L multipliers to fp32 and L fp32 adders in a chain, all of them IEEE 754, RNE.

    The products are normalised to fp32 codes, which hold them exactly where a and b are fp16; every adder decodes,
    normalises, rounds and knows subnormals, infinities and NaN.

    Args:
        operation: names formats and L alone.
        implementation: how the adders are built.
    """

    def __init__(self, operation: EFDPA, implementation: Implementation) -> None:
        self.operation = operation
        self._zero_exp = operation.a.e_min + operation.b.e_min
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        steps = [
            Step("decode", depths.DECODE, self._decode),
            Step("multiply", depths.multiply(self.operation.a, self.operation.b), self._multiply),
            Step("products", depths.NORMALISE + depths.encode(RNE_FP32), self._products),
        ]
        for k in range(self.operation.L):
            steps.append(self._addition(k))
        return steps

    def _addition(self, k: int) -> Step:
        names = (f"add_{k}", "c", f"value_{k}")
        adder = RoundedAdder(*names, RNE_FP32, self.implementation, canonical=False, flush=False)
        result = "d" if k == self.operation.L - 1 else "c"

        def add(build: Build, values: Bundle) -> Bundle:
            others = {key: value for key, value in values.items() if key not in ("c", f"value_{k}")}
            return others | {result: adder.encode(build, adder.accumulate(build, adder.align(build, values)))}

        sum_depth = depths.DECODE + depths.max_exp(2) + depths.ALIGN + depths.accumulate(2)
        return Step(f"add_{k}", sum_depth + depths.NORMALISE + depths.encode(RNE_FP32), add)

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        decoded = decode(build, "a", values, operation.a, [f"x_{k}" for k in range(operation.L)])
        decoded |= decode(build, "b", values, operation.b, [f"y_{k}" for k in range(operation.L)])
        return decoded | kept(values, "c")

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.L)]
        return multiply_pairs(build, values, parts) | kept(values, "c")

    def _products(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        shape = product_shape(operation.a, operation.b, self._zero_exp)
        return products_to_fp32(build, values, shape, operation.L, self.implementation, flush=False)
