"""FTZ-AddMul: products and sums that are rounded to fp32 and flushed one by one (golden: operations/ftz_addmul.py)."""

from golden import Implementation
from golden.operations import FTZAddMul
from rtl.datapath import depths
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.pipeline import Bundle, kept
from rtl.datapath.rounded_adder import RNE_FP32, RoundedAdder, products_to_fp32
from rtl.datapath.stages import decode_operands, multiply_pairs
from rtl.steps.multiply import Multiply, product_shape


class FTZAddMulDatapath(Datapath):
    """d = c + the pairwise sum of P products, every product and every sum rounded to fp32 and flushed."""

    def __init__(self, operation: FTZAddMul, implementation: Implementation) -> None:
        self.operation = operation
        self._zero_exp = operation.a.e_min + operation.b.e_min
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        """Values between the steps: the fp32 codes `value_0` … of one level of the sum, and `c`."""
        steps = [
            Step("decode", depths.DECODE, self._decode),
            Step("multiply", depths.multiply(self.operation.a, self.operation.b), self._multiply),
            Step("products", depths.NORMALISE + depths.encode(RNE_FP32), self._products),
        ]
        level, count = 0, self.operation.P
        while count > 1:
            pairs = [(f"value_{2 * k}", f"value_{2 * k + 1}") for k in range(count // 2)]
            steps += self._level(level, pairs)
            level, count = level + 1, count // 2
        return [*steps, *self._level(level, [("c", "value_0")], result="d")]

    def _level(self, level: int, pairs: list[tuple[str, str]], result: str = "value_{}") -> list[Step]:
        """The three steps of one level of additions."""
        adders = [self._adder(f"add_{level}_{k}", *pair) for k, pair in enumerate(pairs)]
        used = {name for pair in pairs for name in pair}

        def align(build: Build, values: Bundle) -> Bundle:
            aligned = {key: value for key, value in values.items() if key not in used}
            for adder in adders:
                aligned |= adder.align(build, values)
            return aligned

        def accumulate(build: Build, values: Bundle) -> Bundle:
            for adder in adders:
                values = adder.accumulate(build, values)
            return values

        def encode(build: Build, values: Bundle) -> Bundle:
            codes = {result.format(k): adder.encode(build, values) for k, adder in enumerate(adders)}
            return kept(values, *({"c"} - used)) | codes

        points = (
            ("align", depths.DECODE + depths.max_exp(2) + depths.ALIGN, align),
            ("accumulate", depths.accumulate(2), accumulate),
            ("encode", depths.NORMALISE + depths.encode(RNE_FP32), encode),
        )
        return [Step(f"{point}_{level}", depth, run) for point, depth, run in points]

    def _adder(self, name: str, x: str, y: str) -> RoundedAdder:
        """FTZ-Add of two values."""
        return RoundedAdder(name, x, y, RNE_FP32, self.implementation, canonical=False, flush=True)

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        decoded = decode_operands(build, values, self.operation, flush=True)
        return {key: value for key, value in decoded.items() if not key.startswith("z_")} | kept(values, "c")

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.P)]
        return multiply_pairs(build, values, parts) | kept(values, "c")

    def _products(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        shape = product_shape(operation.a, operation.b, self._zero_exp)
        return products_to_fp32(build, values, shape, operation.P, self.implementation, flush=True)
