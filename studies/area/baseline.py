"""A benchmark for comparison, which is no unit: a dot product of separate multipliers and adders, from the components of
fused units."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth import Value

from golden import Implementation
from golden.operations import EFDPA
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code, Operands
from rtl.datapath.rounded_adder import (
    RNE_FP32,
    ExactProducts,
    RoundedAdder,
    RoundedOperands,
    multiply_elements,
    product_to_fp32,
)
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import decode_vector
from rtl.steps.step_record import Record


@dataclass(frozen=True, eq=False)
class Values(Record):
    """fp32 codes: the sum so far, from c on, and the products that are not yet added (None in place of the others)."""

    c: Value
    value: tuple[Value | None, ...]


class DiscreteDatapath(Datapath):
    """d = (…((c + a_0·b_0) + a_1·b_1) + …): L multipliers to fp32 and L fp32 adders in a chain, all of them IEEE 754, RNE.

    The products are normalised to fp32 codes, which hold them exactly where a and b are fp16; every adder decodes,
    normalises, rounds and knows subnormals, infinities and NaN.

    Args:
        operation: only its formats and L are used.
        implementation: how the adders are built.
    """

    operation: EFDPA

    def __init__(self, operation: EFDPA, implementation: Implementation) -> None:
        super().__init__(operation, implementation)

    def steps(self) -> Steps[Any, Code]:
        operation = self.operation
        values = (
            Steps(Step("decode", depths.DECODE, self.decode))
            .then(Step("multiply", depths.multiply(operation.a, operation.b), self.multiply))
            .then(Step("products", depths.NORMALISE + depths.encode(RNE_FP32), self.round_products))
        )
        sum_depth = depths.DECODE + depths.max_exp(2) + depths.ALIGN + depths.accumulate(2)
        depth = sum_depth + depths.NORMALISE + depths.encode(RNE_FP32)
        for k in range(operation.L - 1):
            values = values.then(Step(f"add_{k}", depth, self._addition(k)))
        return values.then(Step(f"add_{operation.L - 1}", depth, self.add_last))

    def decode(self, build: Build, operands: Operands) -> RoundedOperands:
        """Step decode; c waits as a code."""
        operation = self.operation
        x = decode_vector(build, "x", operands.a, operation.a, operation.L)
        y = decode_vector(build, "y", operands.b, operation.b, operation.L)
        return RoundedOperands(x, y, operands.c)

    def multiply(self, build: Build, operands: RoundedOperands) -> ExactProducts:
        """Build step multiply."""
        return multiply_elements(build, operands, self.operation, self.implementation)

    def round_products(self, build: Build, products: ExactProducts) -> Values:
        """Step products: every product as an fp32 code."""
        codes = [
            product_to_fp32(build, f"prod_{k}", product, self.implementation, flush=False)
            for k, product in enumerate(products.products)
        ]
        return Values(products.c, tuple(codes))

    def _addition(self, k: int) -> Callable[[Build, Values], Values]:
        def add(build: Build, values: Values) -> Values:
            return Values(self._add(build, values, k), (*[None] * (k + 1), *values.value[k + 1 :]))

        return add

    def add_last(self, build: Build, values: Values) -> Code:
        """Build the last addition."""
        return Code(self._add(build, values, self.operation.L - 1))

    def _add(self, build: Build, values: Values, k: int) -> Value:
        product = values.value[k]
        assert product is not None
        adder = RoundedAdder(f"add_{k}", RNE_FP32, self.implementation, canonical=False, flush=False)
        return adder.encode(build, *adder.accumulate(build, adder.align(build, values.c, product)))
