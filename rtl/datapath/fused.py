"""The datapath that E-, T-, ST-, GST-FDPA and FMA share: one sum of all terms at one exponent, converted by ρ."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amaranth import Mux

from golden import Implementation
from golden.operations.fused import FusedOperation
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import Datapath
from rtl.datapath.conversion import normalise_total, result_rules, round_and_encode
from rtl.datapath.fused_sum import Precision
from rtl.datapath.records import Aligned, Code, Compared, Decoded, Normalised, Operands, Terms, Total
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import decode_operands, subnormal_inputs
from rtl.steps.accumulate import signed_zero
from rtl.steps.interfaces import TermFormat


class FusedDatapath(Datapath):
    """d = ρ(Σ terms at e_max); an operation says what its terms are and how each is truncated.

    Args:
        operation: the golden parameter object.
        implementation: how it is built.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's fused units.
    """

    operation: FusedOperation

    def __init__(self, operation: FusedOperation, implementation: Implementation, canonical: bool) -> None:
        self.rho, self.rules = operation.conversion, result_rules(operation, canonical)
        super().__init__(operation, implementation)

    def steps(self) -> Steps[Any, Code]:
        return (
            self.term_steps()
            .then(Step("max_exp", self.max_exp_depth(), self.max_exp))
            .then(Step("align", self.align_depth(), self.align))
            .then(Step("accumulate", self.accumulate_depth(), self.accumulate))
            .then(Step("normalise", depths.NORMALISE, self.normalise))
            .then(Step("encode", depths.encode(self.rho), self.encode))
        )

    @abstractmethod
    def term_steps(self) -> Steps[Any, Any]:
        """The steps from the operands to the `Terms`."""

    def decoded(self) -> Steps[Operands, Decoded]:
        """The chain with step decode alone."""
        return Steps(Step("decode", depths.DECODE, self.decode))

    @property
    @abstractmethod
    def term_count(self) -> int:
        """Terms of the sum, c among them."""

    @abstractmethod
    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """The bits that alignment retains of each term."""

    def decode(self, build: Build, operands: Operands) -> Decoded:
        """Step decode."""
        return decode_operands(build, operands, self.operation, subnormal_inputs(self.operation))

    def max_exp(self, build: Build, terms: Terms) -> Compared:
        """Step max_exp."""
        return Compared(terms, fused_sum.max_exp(build, "sum", terms.terms, self.implementation))

    def align(self, build: Build, compared: Compared) -> Aligned:
        """Step align."""
        terms, largest = compared.terms, compared.largest
        precisions = self.precisions([term.format for term in terms.terms])
        aligned = fused_sum.align(build, largest, terms.terms, precisions)
        return Aligned(terms.zero_sign(), terms.special, largest.without_gaps(), aligned, terms.written_nan())

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        """Step accumulate."""
        total = fused_sum.accumulate(build, aligned.largest, aligned.aligned, self.implementation, normalised=True)
        if aligned.zero_negative is not None:
            total = replace(total, sign=signed_zero(total.sign, total.total, aligned.zero_negative))
        return Total(aligned.special, aligned.largest, total, aligned.nan)

    def normalise(self, build: Build, total: Total) -> Normalised:
        """Step normalise."""
        result, bounded = self.rho.rounding_format, not self.operation.flush_results
        narrows = self.implementation.normaliser == "narrowing"
        norm = normalise_total(build, total.largest, total.total, result, bounded, narrows)
        return Normalised(total.special, norm, total.nan)

    def encode(self, build: Build, normalised: Normalised) -> Code:
        """Steps round and encode."""
        code = round_and_encode(build, normalised.sum, normalised.special, self.rho, self.implementation, self.rules)
        return Code(code if normalised.nan is None else Mux(normalised.special.nan, normalised.nan, code))

    def multiply_depth(self) -> int:
        """Depth of step multiply (rtl.datapath.depths)."""
        return depths.multiply(self.operation.a, self.operation.b)

    def max_exp_depth(self) -> int:
        """Depth of step max_exp."""
        return depths.max_exp(self.term_count)

    def align_depth(self) -> int:
        """Depth of step align."""
        return depths.ALIGN

    def accumulate_depth(self) -> int:
        """Depth of step accumulate."""
        return depths.accumulate(self.term_count)
