"""GST-FDPA: exact dot products of groups, scaled, then summed as in T-FDPA (golden: operations/gst_fdpa.py)."""

from dataclasses import dataclass, field
from typing import Any

from amaranth import Cat, Signal, Value

from golden.operations import GSTFDPA
from rtl.datapath import depths, fused_sum
from rtl.datapath.fused_records import AlignedTerms, Decoded, MaxExponent, SignedTotal, Terms, scales_of
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, multiply_pairs, place_scale_special, place_scaled
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.scale import ScaleGroup
from rtl.steps.step_record import COLUMNS, Record


@dataclass(frozen=True, eq=False)
class GroupProducts(Record):
    """Record after step multiply: exact products, c, and the scales, which are applied to the groups later."""

    prod: tuple[Term, ...]
    c: Term
    alpha: tuple[Operand, ...]
    beta: tuple[Operand, ...]
    special: Special


@dataclass(frozen=True, eq=False)
class AlignedGroup(Record):
    """The products of a group at a constant exponent, and whether all of them are zero."""

    largest: MaxExponent
    aligned: AlignedTerms
    zero: Value


@dataclass(frozen=True, eq=False)
class AlignedGroups(Record):
    """Record after step group_align: the aligned groups, c and the scales."""

    c: Term
    alpha: tuple[Operand, ...]
    beta: tuple[Operand, ...]
    special: Special
    groups: tuple[AlignedGroup, ...] = field(metadata=COLUMNS)


@dataclass(frozen=True, eq=False)
class GroupExponent(Record):
    """A group's exponent, a constant, and whether all its products are zero."""

    largest: MaxExponent
    zero: Value


@dataclass(frozen=True, eq=False)
class GroupTotals(Record):
    """Record after step group_accumulate: the sums of the groups, c and the scales."""

    c: Term
    alpha: tuple[Operand, ...]
    beta: tuple[Operand, ...]
    special: Special
    groups: tuple[GroupExponent, ...] = field(metadata=COLUMNS)
    totals: tuple[SignedTotal, ...]


@dataclass(frozen=True, eq=False)
class ScaledGroups(Terms):
    """Record after step scale: one term for each group, and c."""

    c: Term
    special: Special
    term: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.term, self.c)


class GSTFDPADatapath(TruncatedDatapath):
    """T-FDPA over L/G scaled groups and c; a group is summed exactly, at the largest exponent that a product can have."""

    operation: GSTFDPA

    @property
    def term_count(self) -> int:
        return self.operation.L // self.operation.G + 1

    def term_steps(self) -> Steps[Any, ScaledGroups]:
        return (
            self.decoded()
            .then(Step("multiply", self.multiply_depth(), self.multiply))
            .then(Step("group_align", depths.ALIGN, self.align_groups))
            .then(Step("group_accumulate", depths.accumulate(self.operation.G), self.accumulate_groups))
            .then(Step("scale", depths.SCALE, self.scale))
        )

    def multiply(self, build: Build, decoded: Decoded) -> GroupProducts:
        """Step multiply: exact products."""
        operation = self.operation
        # Whether a product is zero is asked of its significand; a zero's exponent does not matter.
        products, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.product_exp_min, implementation=self.implementation
        )
        c, c_special = self.addend(build, decoded.z)
        scaled = []
        for k, special in enumerate(specials):
            scales = decoded.scales(k // operation.K_block)
            scaled.append(place_scale_special(build, k, operation.scale, products[k], special, scales))
        special = combine_specials(build, [*scaled, c_special])
        return GroupProducts(products, c, decoded.alpha, decoded.beta, special)

    def align_groups(self, build: Build, products: GroupProducts) -> AlignedGroups:
        """Step group_align: the products at one constant exponent, and for each group whether all are zero."""
        groups = []
        for g in range(self.operation.L // self.operation.G):
            group = products.prod[g * self.operation.G : (g + 1) * self.operation.G]
            exps, frac = group[0].format.exps, group[0].format.frac
            zero = Signal(name=f"zero_{g}")
            build.assign(zero.eq(~Cat(product.sig for product in group).any()))
            largest = fused_sum.fixed_exp(f"group_{g}", exps.high)
            exact = Precision(exps.span + frac, "RZ")
            groups.append(AlignedGroup(largest, fused_sum.align(build, largest, group, [exact] * len(group)), zero))
        return AlignedGroups(products.c, products.alpha, products.beta, products.special, tuple(groups))

    def accumulate_groups(self, build: Build, aligned: AlignedGroups) -> GroupTotals:
        """Step group_accumulate: each group's exact sum."""
        totals = [
            fused_sum.accumulate(build, group.largest, group.aligned, self.implementation, normalised=False)
            for group in aligned.groups
        ]
        groups = [GroupExponent(group.largest, group.zero) for group in aligned.groups]
        return GroupTotals(aligned.c, aligned.alpha, aligned.beta, aligned.special, tuple(groups), tuple(totals))

    def scale(self, build: Build, totals: GroupTotals) -> ScaledGroups:
        """Step scale: each group's sum times the scales' significands, at the scales' exponent."""
        operation = self.operation
        terms = []
        for g, (group, total) in enumerate(zip(totals.groups, totals.totals, strict=True)):
            scales = scales_of(totals.alpha, totals.beta, g * operation.G // operation.K_block)
            component = ScaleGroup(total.format, operation.scale, operation.e_zero, tuple(scales))
            place_scaled(build, f"scale_{g}", component, scales)
            build.assign(component.sign.eq(total.sign), component.total.eq(total.total), component.zero.eq(group.zero))
            build.ignore(group.largest.exp)  # a constant, which the format of the total holds
            terms.append(component.term)
        return ScaledGroups(totals.c, totals.special, tuple(terms))
