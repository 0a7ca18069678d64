"""PS-FDPA: sums of neighbouring products and c, rounded down (golden: operations/ps_fdpa.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from amaranth import Mux, Value

from golden.operations import PSFDPA
from rtl.datapath import depths, fused_sum
from rtl.datapath.fused_records import AlignedTerms, Compared, MaxExponent, SignedTotal
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps
from rtl.operations.headroom_fdpa import HeadroomDatapath, TermsWithNaN
from rtl.steps.interfaces import Special, Term, TermFormat
from rtl.steps.step_record import INLINE, Record


@dataclass(frozen=True, eq=False)
class ComparedGroups(Record):
    """Record after step group_max_exp: the products, c, and the largest exponent of each group."""

    products: TermsWithNaN = field(metadata=INLINE)
    largest: tuple[MaxExponent, ...]


@dataclass(frozen=True, eq=False)
class AlignedGroups(Record):
    """Record after step group_align: each group's products at its own exponent, and c."""

    c: Term
    special: Special
    nan: Value
    largest: tuple[MaxExponent, ...]
    aligned: tuple[AlignedTerms, ...]


class PSFDPADatapath(HeadroomDatapath):
    """d = ρ(Σ RD_F(sum of P products at e_max) + RD_F(c at e_max)); a group's products RD_F at its own largest exponent."""

    operation: PSFDPA

    @property
    def term_count(self) -> int:
        return self.operation.L // self.operation.P + 1

    def term_steps(self) -> Steps[Any, TermsWithNaN]:
        P = self.operation.P
        return (
            self.product_steps()
            .then(Step("group_max_exp", depths.max_exp(P), self.group_max_exp))
            .then(Step("group_align", depths.ALIGN_DOWN, self.group_align))
            .then(Step("group_accumulate", depths.accumulate(P), self.group_accumulate))
        )

    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """The precision of each term: F bits, truncated toward minus infinity."""
        return [Precision(self.operation.F, "RD")] * len(terms)

    def align_depth(self) -> int:
        return depths.ALIGN_DOWN

    def groups(self, products: TermsWithNaN) -> list[tuple[Term, ...]]:
        """The products of each group."""
        P = self.operation.P
        return [products.term[k : k + P] for k in range(0, self.operation.L, P)]

    def group_max_exp(self, build: Build, products: TermsWithNaN) -> ComparedGroups:
        """Step group_max_exp: each group's largest exponent."""
        largest = [
            fused_sum.max_exp(build, f"group_{g}", group, self.implementation)
            for g, group in enumerate(self.groups(products))
        ]
        return ComparedGroups(products, tuple(largest))

    def group_align(self, build: Build, compared: ComparedGroups) -> AlignedGroups:
        """Step group_align: the products rounded down to F bits, each at its group's exponent."""
        products, P = compared.products, self.operation.P
        precisions = [Precision(self.operation.F, "RD")] * P
        aligned = [
            fused_sum.align(build, largest, group, precisions)
            for largest, group in zip(compared.largest, self.groups(products), strict=True)
        ]
        exponents = tuple(largest.without_gaps() for largest in compared.largest)
        return AlignedGroups(products.c, products.special, products.nan, exponents, tuple(aligned))

    def group_accumulate(self, build: Build, groups: AlignedGroups) -> TermsWithNaN:
        """Step group_accumulate: each group's sum, a term at its exponent."""
        sums = [
            as_term(fused_sum.accumulate(build, largest, aligned, self.implementation, normalised=False), largest)
            for largest, aligned in zip(groups.largest, groups.aligned, strict=True)
        ]
        return TermsWithNaN(tuple(sums), groups.c, groups.special, groups.nan)

    def max_exp(  # type: ignore[override]  # it takes what this class's own `term_steps` gives
        self, build: Build, terms: TermsWithNaN
    ) -> Compared:
        """Step max_exp; a c that lies wholly below the grid then counts as 0."""
        compared = super().max_exp(build, terms)
        dropped = terms.c.exp < compared.largest.exp - self.operation.F
        return Compared(replace(terms, c=replace(terms.c, sig=Mux(dropped, 0, terms.c.sig))), compared.largest)


def as_term(total: SignedTotal, largest: MaxExponent) -> Term:
    """A sum as a term, at the exponent that its own terms were aligned to."""
    return Term(total.sign, largest.exp, total.total, total.format)
