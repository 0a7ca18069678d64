"""T-FDPA: the truncated fused dot product and add (golden: operations/t_fdpa.py)."""

from abc import abstractmethod

from golden import Implementation
from golden.conversion import conversion
from golden.operations.t_fdpa import TruncatedFDPA
from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.finish import Finish
from rtl.datapath.pipeline import Bundle
from rtl.datapath.stages import accumulator_term, combine_specials, decode_operands, multiply_pairs
from rtl.steps.multiply import Accumulator, Multiply, product_shape
from rtl.steps.shapes import TermShape


class TruncatedDatapath(Datapath):
    """What T-, ST- and GST-FDPA share: terms and c at one exponent, cut to F bits, summed, converted by ρ."""

    def __init__(self, operation: TruncatedFDPA, implementation: Implementation) -> None:
        self.operation = operation
        self.accumulator = Accumulator(operation.c, operation.e_zero)
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        operation = self.operation
        shapes = self.term_shapes() | {"c": self.accumulator.shape}
        addends = [
            Addend(name=name, shape=shape, F=operation.F, truncation="RD" if operation.truncation == "RD" else "RZ")
            for name, shape in shapes.items()
        ]
        total = AlignedSum("sum", addends, self.implementation, normalised=True)
        rho = conversion(operation.rho)
        finish = Finish("sum", total.term, rho, self.implementation, canonical=True)
        return [
            Step("decode", depths.DECODE, self.decode),
            Step("multiply", self.multiply_depth(), self.multiply),
            Step("max_exp", depths.max_exp(len(shapes)), total.max_exp),
            Step("align", depths.ALIGN_DOWN if operation.truncation == "RD" else depths.ALIGN, total.align),
            Step("accumulate", depths.accumulate(len(shapes)), total.accumulate),
            Step("normalise", depths.NORMALISE, finish.normalise),
            Step("encode", depths.encode(rho), finish.encode),
        ]

    @abstractmethod
    def term_shapes(self) -> dict[str, TermShape]:
        """The terms that meet c, by the names of their values."""

    def multiply_depth(self) -> int:
        """Depth of step multiply (rtl.datapath.depths)."""
        return depths.multiply(self.operation.a, self.operation.b)

    @abstractmethod
    def multiply(self, build: Build, values: Bundle) -> Bundle:
        """Step multiply: the terms, and the special result."""

    def decode(self, build: Build, values: Bundle) -> Bundle:
        """Step decode."""
        return decode_operands(build, values, self.operation)

    def with_c(self, build: Build, values: Bundle) -> Bundle:
        """c as a term, and its special."""
        return accumulator_term(build, values, self.accumulator)


class TFDPADatapath(TruncatedDatapath):
    """d = ρ(2^e_max · Σ RZ_F(term at e_max)) over L exact products and c."""

    def term_shapes(self) -> dict[str, TermShape]:
        operation = self.operation
        shape = product_shape(operation.a, operation.b, operation.e_zero)
        return {f"prod_{k}": shape for k in range(operation.L)}

    def multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, operation.e_zero) for _ in range(operation.L)]
        terms = multiply_pairs(build, values, parts) | self.with_c(build, values)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])
