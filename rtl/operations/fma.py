"""FMA: IEEE 754 fused multiply-add (golden: operations/fma.py)."""

from golden import Implementation
from golden.conversion import Conversion
from golden.operations import FMA
from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.finish import Finish
from rtl.datapath.pipeline import Bundle
from rtl.datapath.stages import accumulator_term, combine_specials, decode_operands, multiply_pairs
from rtl.steps.multiply import Accumulator, Multiply, product_shape
from rtl.steps.shapes import ExpRange, TermShape


class FMADatapath(Datapath):
    """d = RNE(a·b + c): c moves, the product stays, what leaves the window below is sticky.

    The product stands `man_bits + 4` places below the top. A c that would have to stand higher than the top has an exponent
    so much larger that every bit of the product lies below the rounding position and one place more, which a subtraction may
    need: then only its being there counts, and it stays where it is. Below the product's last bit there is room for what a
    product of 24 bits (subnormal times normal, fp32) needs when c is subtracted: two bits, and the sticky bit.
    """

    def __init__(self, operation: FMA, implementation: Implementation) -> None:
        self.operation = operation
        self._zero_exp = operation.a.e_min + operation.b.e_min
        # A zero c has exponent e_min, like a subnormal one: so e_max is never below a result's exponent.
        self._accumulator = Accumulator(operation.c, operation.c.e_min)
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        operation = self.operation
        d = operation.d
        lift = d.man_bits + 4
        product = product_shape(operation.a, operation.b, self._zero_exp)
        lifted = TermShape(product.exps + ExpRange(lift, lift), product.sig_bits, product.frac + lift)
        F = lifted.frac + 3
        addends = [
            Addend(name="prod_0", shape=lifted, F=F, truncation="unmoved"),
            Addend(name="c", shape=self._accumulator.shape, F=F, truncation="sticky"),
        ]
        total = AlignedSum("sum", addends, self.implementation, normalised=True)
        rho = Conversion("RNE", "RNE", d, d)
        finish = Finish("sum", total.term, rho, self.implementation, canonical=False)

        def max_exp(build: Build, values: Bundle) -> Bundle:
            return total.max_exp(build, values | {"prod_0_exp": values["prod_0_exp"] + lift})

        def accumulate(build: Build, values: Bundle) -> Bundle:
            summed = total.accumulate(build, values)
            return signed_zero(summed, "sum")

        return [
            Step("decode", depths.DECODE, self._decode),
            Step("multiply", depths.multiply(operation.a, operation.b), self._multiply),
            Step("max_exp", depths.max_exp(2), max_exp),
            Step("align", depths.ALIGN, total.align),
            Step("accumulate", depths.accumulate(2), accumulate),
            Step("normalise", depths.NORMALISE, finish.normalise),
            Step("encode", depths.encode(rho), finish.encode),
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
