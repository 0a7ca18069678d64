"""Chains of flushed multiply-adds, computed level by level: the part that FTZ-FMA and FTZ-EO-FMA share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Mux, Value

from golden import Implementation
from golden.arithmetic.formats import FP32, Format
from golden.operations.flushed_fma import FlushedFMA
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.flushed_adder import (
    ALIGN_DEPTH,
    ENCODE_DEPTH,
    ZERO_EXP,
    FlushedAdder,
    Pair,
    PairTotal,
    Product,
    is_flushed,
)
from rtl.datapath.fused_records import Code, Operands
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import decode_vector, multiply_pairs
from rtl.steps.interfaces import Operand
from rtl.steps.step_record import Record


@dataclass(frozen=True, eq=False)
class Factors(Record):
    """Record after step decode: the elements of a and b and their codes, and the code of c."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    x_code: tuple[Value, ...]
    y_code: tuple[Value, ...]
    c: Value


@dataclass(frozen=True, eq=False)
class Chains(Record):
    """Record between levels: products still to be added, in order; the fp32 code of each chain's sum so far; c if it is
    added last."""

    product: tuple[Product, ...]
    sum: tuple[Value, ...]
    c: Value | None


@dataclass(frozen=True, eq=False)
class AlignedLevel(Record):
    """Record after step align of a level: one pair for each chain, or the pair of the last sums; c if it is added later."""

    product: tuple[Product, ...]
    pair: tuple[Pair, ...]
    c: Value | None


@dataclass(frozen=True, eq=False)
class LevelTotals(Record):
    """Record after step accumulate of a level."""

    product: tuple[Product, ...]
    pair: tuple[PairTotal, ...]
    c: Value | None


class Level:
    """A level of the chains: one multiply-add of every chain, or the addition of two chains.

    Args:
        name: name in those of the level's steps and adders.
        adders: number of adders.
        factors: format of the products' factors.
        implementation: how the adders are built.
        align: step align of the level.
    """

    def __init__(
        self,
        name: str,
        adders: int,
        factors: Format,
        implementation: Implementation,
        align: Callable[[Build, Chains, Sequence[FlushedAdder]], AlignedLevel],
    ) -> None:
        self.name, self._align = name, align
        self._adders = [FlushedAdder(f"add_{name}_{k}", factors, implementation) for k in range(adders)]

    def align(self, build: Build, chains: Chains) -> AlignedLevel:
        """Step align."""
        return self._align(build, chains, self._adders)

    def accumulate(self, build: Build, level: AlignedLevel) -> LevelTotals:
        """Step accumulate."""
        pairs = [adder.accumulate(build, pair) for adder, pair in zip(self._adders, level.pair, strict=True)]
        return LevelTotals(level.product, tuple(pairs), level.c)

    def encode(self, build: Build, level: LevelTotals) -> Chains:
        """Steps normalise, round and encode."""
        sums = [adder.encode(build, pair) for adder, pair in zip(self._adders, level.pair, strict=True)]
        return Chains(level.product, tuple(sums), level.c)

    def encode_last(self, build: Build, level: LevelTotals) -> Code:
        """Steps normalise, round and encode of the last level, whose only sum is d."""
        (adder,), (pair,) = self._adders, level.pair
        return Code(adder.encode(build, pair))


class FlushedDatapath(Datapath):
    """The base of datapaths that compute d by chains of flushed multiply-adds; an operation defines the levels."""

    operation: FlushedFMA

    def levels(self) -> list[Level]:
        """The levels, in order."""
        raise NotImplementedError

    def chains(self, products: Sequence[Product], c: Value) -> Chains:
        """The inputs of the first level, from the products and c."""
        raise NotImplementedError

    def steps(self) -> Steps[Any, Code]:
        operation = self.operation
        *levels, last = self.levels()
        chain = Steps(Step("decode", depths.DECODE, self.decode)).then(
            Step("multiply", depths.multiply(operation.a, operation.b), self.multiply)
        )
        for level in levels:
            chain = _totals(chain, level).then(Step(f"encode_{level.name}", ENCODE_DEPTH, level.encode))
        return _totals(chain, last).then(Step(f"encode_{last.name}", ENCODE_DEPTH, last.encode_last))

    def decode(self, build: Build, operands: Operands) -> Factors:
        """Step decode; c and the sums stay codes, which the adders decode."""
        x, y = self.operation.a, self.operation.b
        count = self.operation.length
        decoded = [
            decode_vector(build, name, codes, operand, count, "±0" if is_flushed(operand) else "kept")
            for name, codes, operand in (("x", operands.a, x), ("y", operands.b, y))
        ]
        codes = [
            tuple(vector.word_select(k, operand.width) for k in range(count))
            for vector, operand in ((operands.a, x), (operands.b, y))
        ]
        return Factors(decoded[0], decoded[1], codes[0], codes[1], operands.c)

    def multiply(self, build: Build, factors: Factors) -> Chains:
        """Step multiply."""
        operation = self.operation
        terms, specials = multiply_pairs(
            build, factors.x, factors.y, operation, ZERO_EXP, implementation=self.implementation
        )
        products = [
            Product(term, special, p.nan | q.nan, Mux(p.nan, widened_nan(x, operation.a), widened_nan(y, operation.b)))
            for term, special, p, q, x, y in zip(
                terms, specials, factors.x, factors.y, factors.x_code, factors.y_code, strict=True
            )
        ]
        return self.chains(products, factors.c)


def widened_nan(code: Value, operand: Format) -> Value:
    """The code of a NaN as fp32, made quiet: its sign, and its payload at the top of the mantissa."""
    payload = Cat(Const(0, FP32.man_bits - operand.man_bits), code[: operand.man_bits - 1])
    return Cat(payload, Const(1, 1), Const((1 << FP32.exp_bits) - 1, FP32.exp_bits), code[-1])


def align_products(build: Build, chains: Chains, adders: Sequence[FlushedAdder]) -> AlignedLevel:
    """Step align of each chain's next product and its sum; if c comes last, the sum is +0 at first."""
    count = len(adders)
    sums = chains.sum or (Const(0, FP32.width),) * count
    pairs = [adder.align_product(build, product, z) for adder, product, z in zip(adders, chains.product, sums, strict=False)]
    return AlignedLevel(chains.product[count:], tuple(pairs), chains.c)


def align_sums(build: Build, chains: Chains, adders: Sequence[FlushedAdder]) -> AlignedLevel:
    """Step align of the sums of both chains."""
    (adder,), (x, y) = adders, chains.sum
    return AlignedLevel((), (adder.align_codes(build, x, y),), chains.c)


def align_c(build: Build, chains: Chains, adders: Sequence[FlushedAdder]) -> AlignedLevel:
    """Step align of c and the sum of all products."""
    (adder,), (total,) = adders, chains.sum
    assert chains.c is not None
    return AlignedLevel((), (adder.align_codes(build, chains.c, total),), None)


def _totals(chain: Steps[Any, Chains], level: Level) -> Steps[Any, LevelTotals]:
    """The steps align and accumulate of a level."""
    return chain.then(Step(f"align_{level.name}", ALIGN_DEPTH, level.align)).then(
        Step(f"accumulate_{level.name}", depths.accumulate(2), level.accumulate)
    )
