"""TR-FDPA: a truncated fused dot product, then a rounded sum with c (golden: operations/tr_fdpa.py)."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from amaranth import Const, Value

from golden import Implementation
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP, RoundedFDPA
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import Datapath
from rtl.datapath.conversion import normalise_term, normalise_total, result_rules, round_and_encode
from rtl.datapath.fused_records import (
    AlignedTerms,
    Code,
    Decoded,
    MaxExponent,
    Normalised,
    NormalisedSum,
    Operands,
    Products,
    SignedTotal,
    Total,
)
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import (
    addend,
    combine_specials,
    decode_operands,
    multiply_pairs,
    scale_products,
    subnormal_inputs,
)
from rtl.steps.align import Truncation, truncation_of
from rtl.steps.interfaces import Special, Term, TermFormat
from rtl.steps.step_record import INLINE, Record
from rtl.steps.truncate import TRUNCATE, TruncateNormalised


@dataclass(frozen=True, eq=False)
class SignedSum(Record):
    """The truncated sum `name` of products as sign and magnitude, which becomes a term of another sum."""

    name: str
    sign: Value
    sig: Value
    format: TermFormat

    def widths(self) -> dict[str, int]:
        return {"sign": 1, "sig": self.format.sig_bits}

    @classmethod
    def of(cls, total: SignedTotal) -> "SignedSum":
        """Make it from the total of a sum."""
        return cls(total.name, total.sign, total.total, total.format)

    def at(self, largest: MaxExponent) -> Term:
        """The sum as a term, at the exponent that its own terms were aligned to."""
        return Term(self.sign, largest.exp, self.sig, self.format)


@dataclass(frozen=True, eq=False)
class DotProduct(Record):
    """Record after step accumulate: T, the truncated sum of the products at e_dot, and c."""

    c: Term
    special: Special
    largest: MaxExponent
    dot: SignedSum


@dataclass(frozen=True, eq=False)
class ComparedDot(Record):
    """Record after step out_max_exp: T and c, and the exponent of their sum."""

    dot: DotProduct = field(metadata=INLINE)
    largest: MaxExponent


@dataclass(frozen=True, eq=False)
class AlignedDot(Record):
    """Record after step out_align: T and c at the exponent of their sum."""

    special: Special
    largest: MaxExponent
    aligned: AlignedTerms


@dataclass(frozen=True, eq=False)
class NormalisedOut(Record):
    """Record after step normalise: the sum, and the format of the total before it."""

    out: Normalised = field(metadata=INLINE)
    total: TermFormat


class RoundedDatapath(Datapath):
    """The base of TR- and GTR-FDPA: T and c at e_out, their sum normalised, truncated to F2 bits, converted."""

    operation: RoundedFDPA

    def __init__(self, operation: RoundedFDPA, implementation: Implementation) -> None:
        self.rho, self.rules = operation.conversion, result_rules(operation, canonical=False)
        super().__init__(operation, implementation)

    @property
    def truncation(self) -> Truncation:
        """The truncation of T, of c and of their sum."""
        return truncation_of(self.operation.truncation)

    @property
    def align_depth(self) -> int:
        """Depth of an alignment with that truncation."""
        return depths.ALIGN_DOWN if self.truncation == "RD" else depths.ALIGN

    def steps(self) -> Steps[Any, Code]:
        return (
            self.dot_steps()
            .then(Step("out_max_exp", depths.max_exp(2), self.out_max_exp))
            .then(Step("out_align", self.align_depth, self.out_align))
            .then(Step("out_accumulate", depths.accumulate(2), self.out_accumulate))
            .then(Step("normalise", depths.NORMALISE, self.normalise))
            .then(Step(TRUNCATE, depths.TRUNCATE, self.truncate))
            .then(Step("encode", depths.encode(self.rho), self.encode))
        )

    @abstractmethod
    def dot_steps(self) -> Steps[Any, DotProduct]:
        """The steps from the operands to T."""

    def product_steps(self) -> Steps[Operands, Products]:
        """The steps from the operands to the products."""
        depth = depths.multiply(self.operation.a, self.operation.b) + (depths.SCALE if self.operation.is_scaled else 0)
        return Steps(Step("decode", depths.DECODE, self.decode)).then(Step("multiply", depth, self.multiply))

    def decode(self, build: Build, operands: Operands) -> Decoded:
        """Step decode."""
        return decode_operands(build, operands, self.operation, subnormal_inputs(self.operation))

    def multiply(self, build: Build, decoded: Decoded) -> Products:
        """Step multiply: exact products; one of magnitude 2**128 or more is an infinity."""
        operation, scale = self.operation, self.operation.scale
        # Below every exponent of a non-zero product and of c, so that a zero product is never the only largest.
        zero_exp = min(operation.product_exp_min, operation.c.e_min)
        prod, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, zero_exp, PRODUCT_OVERFLOW_EXP, implementation=self.implementation
        )
        if scale is not None:
            lowest = min(zero_exp, operation.scaled_exp_min)
            prod, specials = scale_products(build, prod, specials, decoded, scale, operation.K_block, lowest)
        c, c_special = addend(build, "addend", decoded.z, operation.c, operation.c.e_min)
        return Products(prod, c, combine_specials(build, [*specials, c_special]))

    def out_max_exp(self, build: Build, dot: DotProduct) -> ComparedDot:
        """Step out_max_exp: the exponent of the sum with c, whose zero counts as e_min."""
        largest = fused_sum.max_exp(build, "out", [dot.dot.at(dot.largest), dot.c], self.implementation)
        return ComparedDot(dot, largest)

    def out_align(self, build: Build, compared: ComparedDot) -> AlignedDot:
        """Step out_align: T is truncated to F2 + 1 bits, c to F bits."""
        operation, dot = self.operation, compared.dot
        precisions = [Precision(operation.F2 + 1, self.truncation), Precision(operation.F, self.truncation)]
        aligned = fused_sum.align(build, compared.largest, [dot.dot.at(dot.largest), dot.c], precisions)
        return AlignedDot(dot.special, compared.largest.without_gaps(), aligned)

    def out_accumulate(self, build: Build, aligned: AlignedDot) -> Total:
        """Step out_accumulate."""
        total = fused_sum.accumulate(build, aligned.largest, aligned.aligned, self.implementation, normalised=True)
        return Total(aligned.special, aligned.largest, total)

    def normalise(self, build: Build, total: Total) -> NormalisedOut:
        """Step normalise, with c's e_min as the lowest exponent."""
        out = normalise_total(build, total.largest, total.total, self.operation.c)
        return NormalisedOut(Normalised(total.special, out), total.total.format)

    def truncate(self, build: Build, normalised: NormalisedOut) -> Normalised:
        """Step truncate: cut the normalised sum to F2 fraction bits, and normalise it again if ρ has another e_min or
        none."""
        operation, result, out = self.operation, self.rho.rounding_format, normalised.out.sum
        component = TruncateNormalised(normalised.total, operation.c, operation.F2, result, self.truncation)
        build.place(TRUNCATE, component)
        build.assign(component.sign.eq(out.sign), component.norm.eq(out.norm), component.e_norm.eq(out.e_norm))
        build.ignore(out.sticky)  # 0: the exponent of the sum is at least c's e_min, so nothing moved right
        if result.e_min == operation.c.e_min and not operation.flush_results:
            sticky = Const(0, 1)
            truncated = NormalisedSum(TRUNCATE, out.sign, component.kept, component.e_kept, sticky, component.format)
        else:
            kept = Term(out.sign, component.e_kept, component.kept, component.format)
            truncated = normalise_term(build, TRUNCATE, kept, result, bounded=not operation.flush_results)
        return Normalised(normalised.out.special, truncated)

    def encode(self, build: Build, truncated: Normalised) -> Code:
        """Steps round and encode."""
        return Code(round_and_encode(build, truncated.sum, truncated.special, self.rho, self.implementation, self.rules))


@dataclass(frozen=True, eq=False)
class ComparedProducts(Record):
    """Record after step max_exp: the products, c, and e_dot."""

    products: Products = field(metadata=INLINE)
    largest: MaxExponent


@dataclass(frozen=True, eq=False)
class AlignedProducts(Record):
    """Record after step align: the products at e_dot, and c."""

    c: Term
    special: Special
    largest: MaxExponent
    aligned: AlignedTerms


class TRFDPADatapath(RoundedDatapath):
    """The datapath of TR-FDPA: one group of L products."""

    def dot_steps(self) -> Steps[Any, DotProduct]:
        L = self.operation.length
        return (
            self.product_steps()
            .then(Step("max_exp", depths.max_exp(L), self.max_exp))
            .then(Step("align", depths.ALIGN, self.align))
            .then(Step("accumulate", depths.accumulate(L), self.accumulate))
        )

    def max_exp(self, build: Build, products: Products) -> ComparedProducts:
        """Step max_exp: e_dot, the largest exponent of the products; c does not count."""
        return ComparedProducts(products, fused_sum.max_exp(build, "dot", products.prod, self.implementation))

    def align(self, build: Build, compared: ComparedProducts) -> AlignedProducts:
        """Step align: the products truncated toward zero to F bits."""
        products, largest = compared.products, compared.largest
        precisions = [Precision(self.operation.F, "RZ")] * len(products.prod)
        aligned = fused_sum.align(build, largest, products.prod, precisions)
        return AlignedProducts(products.c, products.special, largest.without_gaps(), aligned)

    def accumulate(self, build: Build, aligned: AlignedProducts) -> DotProduct:
        """Step accumulate: T."""
        total = fused_sum.accumulate(build, aligned.largest, aligned.aligned, self.implementation, normalised=False)
        return DotProduct(aligned.c, aligned.special, aligned.largest, SignedSum.of(total))
