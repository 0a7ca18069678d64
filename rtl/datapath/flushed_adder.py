"""A multiply-add or addition in fp32 that flushes subnormals and keeps the first NaN (golden: operations/flushed_fma.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amaranth import Mux, Value

from golden import Implementation
from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.specials import invalid_nan
from rtl.datapath import depths, fused_sum
from rtl.datapath.conversion import normalise_total, round_and_encode
from rtl.datapath.fused_records import AlignedTerms, MaxExponent, SignedTotal
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build
from rtl.datapath.vector_steps import addend, combine_specials, decode
from rtl.steps.accumulate import signed_zero
from rtl.steps.encode import ResultRules
from rtl.steps.interfaces import ExpRange, Special, Term, TermFormat
from rtl.steps.step_record import Record

RNE_FP32 = conversion("RNE-FP32")

RULES = ResultRules(canonical=False, underflow="flush-tiny")
"""Rules for the results of every rounding: zeros keep their sign, and a rounded result below 2^−126 becomes a zero."""

LIFT = FP32.man_bits + 4
"""Exponent distance above the product's from which on the addend takes the top position (rtl/operations/fma.py)."""

ZERO_EXP = 2 * FP32.e_min
"""The exponent of a zero product; no other term has a lower one."""

QUIET = 1 << (FP32.man_bits - 1)
"""The mantissa bit that marks a NaN as quiet."""

ALIGN_DEPTH = depths.DECODE + depths.max_exp(2) + depths.ALIGN

ENCODE_DEPTH = depths.NORMALISE + depths.encode(RNE_FP32)


def is_flushed(operand: Format) -> bool:
    """Return whether subnormals of fp16 or bf16 are subnormal in fp32 too, and so count as zeros."""
    return operand.e_min == FP32.e_min


@dataclass(frozen=True, eq=False)
class Product(Record):
    """An exact product, its special, and the NaN that it is if a factor is NaN: the first NaN factor as fp32, made quiet."""

    prod: Term
    special: Special
    nan_factor: Value
    nan: Value

    def widths(self) -> dict[str, int]:
        return {"nan_factor": 1, "nan": FP32.width}


@dataclass(frozen=True, eq=False)
class Pair(Record):
    """The two aligned terms of the sum `name`, its special, and the code of its NaN if it is one."""

    name: str
    largest: MaxExponent
    aligned: AlignedTerms
    special: Special
    nan: Value
    both_negative: Value


@dataclass(frozen=True, eq=False)
class PairTotal(Record):
    """The total of the sum `name` after step accumulate, its special, and the code of its NaN if it is one."""

    name: str
    largest: MaxExponent
    special: Special
    nan: Value
    total: SignedTotal


class FlushedAdder:
    """One flushed rounding: of a product and a code, or of two codes.

    Args:
        name: prefix of its components and registers.
        factors: format of a product's factors.
        implementation: how it is built.
    """

    def __init__(self, name: str, factors: Format, implementation: Implementation) -> None:
        self.name, self._factors, self._implementation = name, factors, implementation

    def align_product(self, build: Build, product: Product, z: Value) -> Pair:
        """A product and an fp32 code aligned: the product stays at its place, as in rtl/operations/fma.py.

        Its leading one lies at its exponent or above it, and where a factor may be subnormal as low as its last bit. That of
        the sum may lie one place lower. From there on 24 bits of z and one below are kept; what lies below them is sticky.
        """
        term, special, z_nan = self._addend(build, "z", z)
        shape = product.prod.format
        lowest_lead = 0 if is_flushed(self._factors) else shape.frac
        F = LIFT + max(shape.frac, lowest_lead + FP32.man_bits + 2) + 3
        lifted = TermFormat(shape.exps + ExpRange(LIFT, LIFT), shape.sig_bits, shape.frac + LIFT)
        exp = (product.prod.exp + LIFT)[: lifted.exps.shape.width].as_signed()
        terms = [replace(product.prod, exp=exp, format=lifted), term]
        nan = Mux(product.nan_factor, product.nan, z_nan)
        return self._aligned(build, terms, (product.special, special), nan, [Precision(F, "unshifted"), Precision(F, "RO")])

    def align_codes(self, build: Build, x: Value, y: Value) -> Pair:
        """Two fp32 codes aligned, as `RoundedAdder` does."""
        p, p_special, p_nan = self._addend(build, "x", x)
        q, q_special, q_nan = self._addend(build, "y", y)
        nan = Mux(p_special.nan, p_nan, q_nan)
        return self._aligned(build, [p, q], (p_special, q_special), nan, [Precision(FP32.man_bits + 3, "RO")] * 2)

    def _addend(self, build: Build, side: str, code: Value) -> tuple[Term, Special, Value]:
        """A code as a term, its special, and itself made quiet where it is NaN, else the NaN of an invalid operation."""
        z = decode(build, f"{self.name}_decode_{side}", code, FP32, "±0")
        term, special = addend(build, f"{self.name}_term_{side}", z, FP32, FP32.e_min)
        return term, special, Mux(special.nan, code | QUIET, invalid_nan(FP32))

    def _aligned(
        self,
        build: Build,
        terms: Sequence[Term],
        specials: Sequence[Special],
        nan: Value,
        precisions: Sequence[Precision],
    ) -> Pair:
        special = combine_specials(build, specials, f"{self.name}_specials")
        largest = fused_sum.max_exp(build, self.name, terms, self._implementation)
        aligned = fused_sum.align(build, largest, terms, precisions)
        return Pair(self.name, largest.without_gaps(), aligned, special, nan, terms[0].sign & terms[1].sign)

    def accumulate(self, build: Build, pair: Pair) -> PairTotal:
        """Step accumulate: the sum of both terms; an exact zero has the sign of IEEE 754."""
        total = fused_sum.accumulate(build, pair.largest, pair.aligned, self._implementation, normalised=True)
        total = replace(total, sign=signed_zero(total.sign, total.total, pair.both_negative))
        return PairTotal(self.name, pair.largest, pair.special, pair.nan, total)

    def encode(self, build: Build, pair: PairTotal) -> Value:
        """Steps normalise, round and encode: the code of the sum, or of its NaN."""
        narrows = self._implementation.normaliser == "narrowing"
        normalised = normalise_total(build, pair.largest, pair.total, FP32, bounded=False, narrows=narrows)
        code = round_and_encode(build, normalised, pair.special, RNE_FP32, self._implementation, RULES)
        return Mux(pair.special.nan, pair.nan, code)
