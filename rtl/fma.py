"""FMA: IEEE 754 fused multiply-add (golden: operations/fma.py)."""

from golden import Implementation
from golden.conversion import Conversion
from golden.operations import FMA
from rtl.aligned_sum import Addend, AlignedSum
from rtl.datapath import Build, Datapath, Step
from rtl.finish import Finish
from rtl.multiply import Accumulator, Multiply, product_shape
from rtl.pipeline import Bundle
from rtl.vectors import accumulator_term, combine_specials, decode_operands, multiply_pairs


class FMADatapath(Datapath):
    """d = RNE(a·b + c): product and addend at the larger exponent, what leaves the window sticky.

    With 3·man_bits + 3 fraction bits a sticky bit is as good as the exact sum, subnormal operands included. If c loses bits,
    it lies below a quarter of the smallest product of that exponent, so the result's leading bit is the product's or the one
    below, at most 2·man_bits + 1 places down; man_bits more, a guard bit and the sticky bit still fit. If the product loses
    bits, it lies far below a normal c.
    """

    def __init__(self, operation: FMA, implementation: Implementation) -> None:
        self.operation = operation
        #: Below every exponent of a non-zero term, so that a zero never decides.
        self._zero_exp = operation.a.e_min + operation.b.e_min
        self._accumulator = Accumulator(operation.c, self._zero_exp)
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        operation = self.operation
        d = operation.d
        F = 3 * d.man_bits + 3
        shapes = {"prod_0": product_shape(operation.a, operation.b, self._zero_exp), "c": self._accumulator.shape}
        addends = [Addend(name=name, shape=shape, F=F, truncation="sticky") for name, shape in shapes.items()]
        total = AlignedSum("sum", addends, self.implementation, normalised=True)
        finish = Finish("sum", total.term, Conversion("RNE", "RNE", d, d), self.implementation, canonical=False)

        def accumulate(build: Build, values: Bundle) -> Bundle:
            summed = total.accumulate(build, values)
            return signed_zero(summed, "sum")

        return [
            Step("decode", 8, self._decode),
            Step("multiply", 60, self._multiply),
            Step("max_exp", 12, total.max_exp),
            Step("align", 24, total.align),
            Step("accumulate", 40, accumulate),
            Step("normalise", 40, finish.normalise),
            Step("encode", 22, finish.encode),
        ]

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        return decode_operands(build, values, self.operation)

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        parts = [Multiply(self.operation.a, self.operation.b, self._zero_exp)]
        terms = multiply_pairs(build, values, parts) | accumulator_term(build, values, self._accumulator)
        terms |= {"all_negative": terms["prod_0_sign"] & terms["c_sign"]}
        return combine_specials(build, terms, ["special_0", "special_c"])


def signed_zero(values: Bundle, name: str) -> Bundle:
    """IEEE 754, 6.3: an exact zero is negative only where every term is; takes `all_negative`, settles `<name>_sign`."""
    result = {key: value for key, value in values.items() if key != "all_negative"}
    result[f"{name}_sign"] = values[f"{name}_sign"] | (values["all_negative"] & ~values[f"{name}_total"].any())
    return result
