"""GTR-FDPA: TR-FDPA over two groups, the even and the odd products (golden: operations/gtr_fdpa.py)."""

from dataclasses import dataclass, field, replace
from typing import Any

from amaranth import Mux

from rtl.datapath import depths, fused_sum
from rtl.datapath.fused_records import AlignedTerms, MaxExponent, Products
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps
from rtl.operations.tr_fdpa import AlignedProducts, ComparedDot, DotProduct, RoundedDatapath, SignedSum
from rtl.steps.interfaces import Special, Term
from rtl.steps.step_record import INLINE, Record

GROUPS = ("even", "odd")


@dataclass(frozen=True, eq=False)
class ComparedGroups(Record):
    """Record after step max_exp: the products, c, and the largest exponent of each group."""

    products: Products = field(metadata=INLINE)
    largest: tuple[MaxExponent, ...]


@dataclass(frozen=True, eq=False)
class AlignedGroups(Record):
    """Record after step align: each group's products at its own exponent, and c."""

    c: Term
    special: Special
    largest: tuple[MaxExponent, ...]
    aligned: tuple[AlignedTerms, ...]


@dataclass(frozen=True, eq=False)
class GroupSums(Record):
    """Record after step accumulate: each group's truncated sum, and c."""

    c: Term
    special: Special
    largest: tuple[MaxExponent, ...]
    sums: tuple[SignedSum, ...]


class GTRFDPADatapath(RoundedDatapath):
    """Even-index and odd-index products are summed apart, each group at its own largest exponent."""

    def dot_steps(self) -> Steps[Any, DotProduct]:
        even = (self.operation.length + 1) // 2
        return (
            self.product_steps()
            .then(Step("max_exp", depths.max_exp(even), self.max_exp))
            .then(Step("align", depths.ALIGN, self.align))
            .then(Step("accumulate", depths.accumulate(even), self.accumulate))
            .then(Step("dot_align", depths.max_exp(2) + self.align_depth, self.dot_align))
            .then(Step("dot_accumulate", depths.accumulate(2), self.dot_accumulate))
        )

    def groups(self, products: Products) -> list[tuple[Term, ...]]:
        """The even and the odd products; the second group is left out if L is 1."""
        return [group for group in (products.prod[::2], products.prod[1::2]) if group]

    def max_exp(self, build: Build, products: Products) -> ComparedGroups:
        """Step max_exp: each group's largest exponent."""
        largest = [
            fused_sum.max_exp(build, name, group, self.implementation)
            for name, group in zip(GROUPS, self.groups(products), strict=False)
        ]
        return ComparedGroups(products, tuple(largest))

    def align(self, build: Build, compared: ComparedGroups) -> AlignedGroups:
        """Step align: the products truncated toward zero to F bits, each at its group's exponent."""
        precision, products = Precision(self.operation.F, "RZ"), compared.products
        aligned = [
            fused_sum.align(build, largest, group, [precision] * len(group))
            for largest, group in zip(compared.largest, self.groups(products), strict=True)
        ]
        exponents = tuple(largest.without_gaps() for largest in compared.largest)
        return AlignedGroups(products.c, products.special, exponents, tuple(aligned))

    def accumulate(self, build: Build, aligned: AlignedGroups) -> GroupSums:
        """Step accumulate: each group's sum."""
        totals = [
            fused_sum.accumulate(build, largest, group, self.implementation, normalised=False)
            for largest, group in zip(aligned.largest, aligned.aligned, strict=True)
        ]
        return GroupSums(aligned.c, aligned.special, aligned.largest, tuple(SignedSum.of(total) for total in totals))

    def dot_align(self, build: Build, groups: GroupSums) -> AlignedProducts:
        """Step dot_align: the groups' sums, truncated again at the larger of their exponents."""
        sums = [total.at(largest) for largest, total in zip(groups.largest, groups.sums, strict=True)]
        largest = fused_sum.max_exp(build, "dot", sums, self.implementation)
        aligned = fused_sum.align(build, largest, sums, [Precision(self.operation.F, self.truncation)] * len(sums))
        return AlignedProducts(groups.c, groups.special, largest.without_gaps(), aligned)

    def dot_accumulate(self, build: Build, aligned: AlignedProducts) -> DotProduct:
        """Step dot_accumulate: T."""
        total = fused_sum.accumulate(build, aligned.largest, aligned.aligned, self.implementation, normalised=False)
        return DotProduct(aligned.c, aligned.special, aligned.largest, SignedSum.of(total))

    def out_max_exp(self, build: Build, dot: DotProduct) -> ComparedDot:
        """Step out_max_exp; a c more than F + 1 exponents below e_out then counts as 0."""
        compared = super().out_max_exp(build, dot)
        dropped = dot.c.exp < compared.largest.exp - (self.operation.F + 1)
        c = replace(dot.c, sig=Mux(dropped, 0, dot.c.sig))
        return ComparedDot(replace(dot, c=c), compared.largest)
