"""The datapath that E-, T-, ST-, GST-FDPA and FMA share: one sum of all terms at one exponent, converted by ρ."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amaranth import Value

from golden import Implementation
from golden.arithmetic.formats import Format
from golden.operations.fused import FusedOperation
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import Datapath, ModeInput
from rtl.datapath.conversion import count_places, encode_result, normalise_total, result_rules, shift_total
from rtl.datapath.fused_records import (
    Aligned,
    Code,
    Compared,
    Counted,
    Decoded,
    Normalised,
    Operands,
    Reduced,
    SignedTotal,
    Terms,
    Total,
)
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps, part
from rtl.datapath.vector_steps import decode_operands, subnormal_inputs
from rtl.steps.accumulate import signed_zero
from rtl.steps.interfaces import TermFormat


class FusedDatapath(Datapath):
    """d = ρ(Σ terms at e_max); an operation defines the terms and how each is truncated.

    Args:
        operation: the golden parameter object.
        implementation: the options of the circuit.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's fused units. modes: as of `Datapath`.
    """

    operation: FusedOperation

    def __init__(
        self, operation: FusedOperation, implementation: Implementation, canonical: bool, modes: ModeInput | None = None
    ) -> None:
        self.rho, self.rules = operation.conversion, result_rules(operation, canonical)
        super().__init__(operation, implementation, modes)

    def steps(self) -> Steps[Any, Code]:
        return (
            self.term_steps()
            .then(Step("max_exp", self.max_exp_depth(), self.max_exp))
            .then(Step("align", self.align_depth(), self.align))
            .then(Step("accumulate", self.accumulate_depth(), self.accumulate, self._accumulate_parts()))
            .then(Step("normalise", depths.NORMALISE, self.normalise, self._normalise_parts()))
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
        """Number of terms of the sum, c included."""

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
        return Aligned(
            terms.zero_sign(), terms.special, largest.without_gaps(), aligned, terms.written_nan(), terms.is_invalid()
        )

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        """Step accumulate."""
        total = fused_sum.accumulate(build, aligned.largest, aligned.aligned, self.implementation, normalised=True)
        return Total(aligned.special, aligned.largest, _signed(total, aligned.zero_negative), aligned.nan, aligned.invalid)

    def _is_overridden(self, step: str) -> bool:
        """Whether an operation overrides a step; the parts of the step defined here then do not apply."""
        return getattr(type(self), step) is not getattr(FusedDatapath, step)

    def _accumulate_parts(self) -> Steps[Aligned, Total] | None:
        if self._is_overridden("accumulate"):
            return None
        return Steps(part("accumulate_rows", self.accumulate_rows)).then(part("accumulate", self.accumulate_total))

    def accumulate_rows(self, build: Build, aligned: Aligned) -> Reduced:
        """Step accumulate up to the last adder."""
        rows = fused_sum.accumulate_rows(build, aligned.aligned, self.implementation)
        return Reduced(aligned.zero_negative, aligned.special, aligned.largest, rows, aligned.nan, aligned.invalid)

    def accumulate_total(self, build: Build, reduced: Reduced) -> Total:
        """The last adder of step accumulate."""
        total = fused_sum.accumulate_total(build, reduced.largest, reduced.rows, self.implementation, normalised=True)
        return Total(reduced.special, reduced.largest, _signed(total, reduced.zero_negative), reduced.nan, reduced.invalid)

    def normalise(self, build: Build, total: Total) -> Normalised:
        """Step normalise."""
        normalised = normalise_total(build, total.largest, total.total, *self._normal_form)
        return Normalised(total.special, normalised, total.nan, total.invalid)

    @property
    def _normal_form(self) -> tuple[Format, bool, int]:
        """The arguments of step normalise: the format whose e_min limits it, whether it does, and to how many bits below
        the significand norm is narrowed."""
        narrows = 0 if self.implementation.normaliser != "narrowing" else 1 if self.rules.tininess is None else 2
        return self.rho.rounding_format, not self.operation.flushes_results, narrows

    def _normalise_parts(self) -> Steps[Total, Normalised] | None:
        if self.implementation.leading_zeros == "anticipate" or self._is_overridden("normalise"):
            return None  # nothing is counted where zeros are anticipated
        return Steps(part("normalise_count", self.normalise_count)).then(part("normalise", self.normalise_shift))

    def normalise_count(self, build: Build, total: Total) -> Counted:
        """Step normalise up to the shift."""
        left = count_places(build, total.largest, total.total, *self._normal_form)
        return Counted(total.special, total.largest, total.total, left, total.nan, total.invalid)

    def normalise_shift(self, build: Build, counted: Counted) -> Normalised:
        """The shift of step normalise."""
        normalised = shift_total(build, counted.largest, counted.total, counted.left, *self._normal_form)
        return Normalised(counted.special, normalised, counted.nan, counted.invalid)

    def encode(self, build: Build, normalised: Normalised) -> Code:
        """Steps round and encode."""
        return encode_result(build, normalised, self.rho, self.implementation, self.rules)

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


def _signed(total: SignedTotal, zero_negative: Value | None) -> SignedTotal:
    """The total; if it is zero, with the sign that the terms determine, if they do."""
    return total if zero_negative is None else replace(total, sign=signed_zero(total.sign, total.total, zero_negative))
