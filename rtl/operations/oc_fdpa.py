"""OC-FDPA: a sum in the sign frame of c, in one's complement (golden: operations/oc_fdpa.py)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from golden.operations import OCFDPA
from rtl.datapath import fused_sum
from rtl.datapath.fused_records import Aligned, AlignedTerm, AlignedTerms, MaxExponent, SignedTotal, Total
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Steps
from rtl.operations.headroom_fdpa import HeadroomDatapath, TermsWithNaN
from rtl.steps.accumulate_in_frame import AccumulateInFrame
from rtl.steps.interfaces import TermFormat


class OCFDPADatapath(HeadroomDatapath):
    """d = ρ(c + Σ terms), all RZ_F at e_max; in the frame of c, a term t of the other sign enters as ~t = −t − 1.

    The encoding `ones-complement` is the operation's own form: the terms enter inverted, and nothing corrects them. In the
    other two encodings every term is exact, and one more term holds the amount by which the operation's sum is smaller in
    the frame of c.
    """

    operation: OCFDPA

    @property
    def term_count(self) -> int:
        return self.operation.L + 1

    def term_steps(self) -> Steps[Any, TermsWithNaN]:
        return self.product_steps()

    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """The precision of each term: F bits, truncated toward zero."""
        return [Precision(self.operation.F, "RZ")] * len(terms)

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        """Step accumulate."""
        summed, missing = aligned.aligned, self._missing(aligned.aligned)
        total_bits = sum(1 << term.bits for term in (*summed.terms, missing)).bit_length()
        summed = replace(summed, total_bits=total_bits)
        if self.implementation.encoding == "ones-complement":
            total = self._in_frame(build, aligned.largest, summed)
        else:
            corrected = replace(summed, terms=(*summed.terms, missing))
            total = fused_sum.accumulate(build, aligned.largest, corrected, self.implementation, normalised=True)
        return Total(aligned.special, aligned.largest, total, aligned.nan)

    def _missing(self, aligned: AlignedTerms) -> AlignedTerm:
        """A term with the increments that one's complement leaves out, one for each product whose sign differs from that of
        c."""
        *products, c = aligned.terms
        count = reduce(add, (product.sign ^ c.sign for product in products))
        bits = len(products).bit_length()
        return AlignedTerm(~c.sign, count[:bits], bits)

    def _in_frame(self, build: Build, largest: MaxExponent, summed: AlignedTerms) -> SignedTotal:
        implementation = self.implementation
        anticipates = implementation.leading_zeros == "anticipate"
        widths = [len(term.aligned) for term in summed.terms]
        reduction, adder = implementation.reduction, implementation.adder
        component = AccumulateInFrame(widths, summed.total_bits, reduction, anticipates, adder)
        build.place(f"{summed.name}_accumulate", component)
        for (sign, magnitude), term in zip(component.terms, summed.terms, strict=True):
            build.assign(sign.eq(term.sign), magnitude.eq(term.aligned))
        zeros = component.zeros if anticipates else None
        total_format = TermFormat(largest.exps, summed.total_bits, summed.F)
        return SignedTotal(summed.name, component.sign, component.total, zeros, total_format)
