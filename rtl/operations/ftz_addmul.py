"""FTZ-AddMul: products and sums that are rounded to fp32 and flushed one by one (golden: operations/ftz_addmul.py)."""

from dataclasses import dataclass
from typing import Any

from amaranth import Value

from golden import Implementation
from golden.operations import FTZAddMul
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code, Operands, SignedTotal
from rtl.datapath.rounded_adder import (
    RNE_FP32,
    AlignedPair,
    ExactProducts,
    PairExponent,
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
    """Record between levels, fp32 codes: c, and the values still to be summed pairwise before c is added."""

    c: Value
    value: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class AlignedPairs(Record):
    """Record after step align of a level of additions; c is None in the last level, which adds it."""

    c: Value | None
    pairs: tuple[AlignedPair, ...]


@dataclass(frozen=True, eq=False)
class PairTotals(Record):
    """Record after step accumulate of a level of additions; c is None in the last level."""

    c: Value | None
    exponents: tuple[PairExponent, ...]
    totals: tuple[SignedTotal, ...]


class Addition:
    """One level of FTZ-Add: neighbouring values in pairs, or c and the only value.

    Args:
        level: number of the level, in the names of its adders.
        count: number of values before the level.
        implementation: how the adders are built.
    """

    def __init__(self, level: int, count: int, implementation: Implementation) -> None:
        self.level, self.adds_c = level, count == 1
        self._adders = [
            RoundedAdder(f"add_{level}_{k}", RNE_FP32, implementation, canonical=False, flush=True)
            for k in range(max(1, count // 2))
        ]

    def align(self, build: Build, values: Values) -> AlignedPairs:
        """Step align: the operands of every adder."""
        codes = (values.c, *values.value) if self.adds_c else values.value
        pairs = [adder.align(build, x, y) for adder, x, y in zip(self._adders, codes[::2], codes[1::2], strict=True)]
        return AlignedPairs(None if self.adds_c else values.c, tuple(pairs))

    def accumulate(self, build: Build, aligned: AlignedPairs) -> PairTotals:
        """Step accumulate."""
        sums = [adder.accumulate(build, pair) for adder, pair in zip(self._adders, aligned.pairs, strict=True)]
        exponents, totals = zip(*sums, strict=True)
        return PairTotals(aligned.c, exponents, totals)

    def codes(self, build: Build, sums: PairTotals) -> list[Value]:
        """Steps normalise, round and encode."""
        each = zip(self._adders, sums.exponents, sums.totals, strict=True)
        return [adder.encode(build, exponent, total) for adder, exponent, total in each]

    def encode(self, build: Build, sums: PairTotals) -> Values:
        """Step encode of a level that does not add c."""
        assert sums.c is not None
        return Values(sums.c, tuple(self.codes(build, sums)))

    def encode_last(self, build: Build, sums: PairTotals) -> Code:
        """Step encode of the level that adds c."""
        return Code(*self.codes(build, sums))


class FTZAddMulDatapath(Datapath):
    """d = c + the pairwise sum of P products, every product and every sum rounded to fp32 and flushed."""

    operation: FTZAddMul

    def __init__(self, operation: FTZAddMul, implementation: Implementation) -> None:
        super().__init__(operation, implementation)

    def steps(self) -> Steps[Any, Code]:
        operation, encode_depth = self.operation, depths.NORMALISE + depths.encode(RNE_FP32)
        values = (
            Steps(Step("decode", depths.DECODE, self.decode))
            .then(Step("multiply", depths.multiply(operation.a, operation.b), self.multiply))
            .then(Step("products", encode_depth, self.round_products))
        )
        level, count = 0, operation.P
        while count > 1:
            addition = Addition(level, count, self.implementation)
            values = _sums(values, addition).then(Step(f"encode_{level}", encode_depth, addition.encode))
            level, count = level + 1, count // 2
        last = Addition(level, count, self.implementation)
        return _sums(values, last).then(Step(f"encode_{level}", encode_depth, last.encode_last))

    def decode(self, build: Build, operands: Operands) -> RoundedOperands:
        """Step decode: subnormal elements become +0; c stays a code, which the last adder decodes."""
        operation = self.operation
        x = decode_vector(build, "x", operands.a, operation.a, operation.length, "+0")
        y = decode_vector(build, "y", operands.b, operation.b, operation.length, "+0")
        return RoundedOperands(x, y, operands.c)

    def multiply(self, build: Build, operands: RoundedOperands) -> ExactProducts:
        """Step multiply."""
        return multiply_elements(build, operands, self.operation, self.implementation)

    def round_products(self, build: Build, products: ExactProducts) -> Values:
        """Step products: normalise, round, flush and encode each product."""
        codes = [
            product_to_fp32(build, f"prod_{k}", product, self.implementation, flush=True)
            for k, product in enumerate(products.products)
        ]
        return Values(products.c, tuple(codes))


def _sums(values: Steps[Any, Values], addition: Addition) -> Steps[Any, PairTotals]:
    """The steps align and accumulate of a level of additions."""
    align_depth = depths.DECODE + depths.max_exp(2) + depths.ALIGN
    return values.then(Step(f"align_{addition.level}", align_depth, addition.align)).then(
        Step(f"accumulate_{addition.level}", depths.accumulate(2), addition.accumulate)
    )
