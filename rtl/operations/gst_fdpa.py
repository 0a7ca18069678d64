"""GST-FDPA: exact dot products of groups, scaled, then summed as in T-FDPA (golden: operations/gst_fdpa.py)."""

from amaranth import Cat, Signal

from golden import Implementation
from golden.operations import GSTFDPA
from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum
from rtl.datapath.base import Build, Step
from rtl.datapath.pipeline import Bundle, flatten, kept
from rtl.datapath.stages import combine_specials, multiply_pairs
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.multiply import Multiply, product_shape
from rtl.steps.scale import ScaleGroup, ScaleSpecial, place_scale, scaled_group_shape
from rtl.steps.shapes import TermShape


class GSTFDPADatapath(TruncatedDatapath):
    """T-FDPA over L/G scaled groups and c; a group is summed exactly, at the largest exponent that a product can have."""

    def __init__(self, operation: GSTFDPA, implementation: Implementation) -> None:
        self._groups = operation.L // operation.G
        self._g, self._k_block, self._scale = operation.G, operation.K_block, operation.scale
        zero_exp = operation.a.e_min + operation.b.e_min
        product = product_shape(operation.a, operation.b, zero_exp)
        exact = product.exps.span + product.frac
        self._sums = [
            AlignedSum(
                f"group_{g}",
                [
                    Addend(name=f"prod_{k}", shape=product, F=exact, truncation="RZ")
                    for k in range(g * operation.G, (g + 1) * operation.G)
                ],
                implementation,
                fixed_exp=product.exps.high,
            )
            for g in range(self._groups)
        ]
        self._zero_exp = zero_exp
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        decode, _, *rest = super().steps()
        return [
            decode,
            Step("multiply", self.multiply_depth(), self.multiply),
            Step("group_align", depths.ALIGN, self.align_groups),
            Step("group_accumulate", depths.accumulate(self._g), self.accumulate_groups),
            Step("scale", depths.SCALE, self.scale_groups),
            *rest,
        ]

    def term_shapes(self) -> dict[str, TermShape]:
        shape = scaled_group_shape(self._sums[0].term, self._scale, self.operation.e_zero)
        return {f"term_{g}": shape for g in range(self._groups)}

    def multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.L)]
        terms = multiply_pairs(build, values, parts) | self.with_c(build, values) | kept(values, "alpha", "beta")
        for k in range(operation.L):
            part = ScaleSpecial(self._scale)
            place_scale(build, f"scale_special_{k}", part, k // self._k_block, values)
            build.drive(part.special, f"special_{k}", terms)
            terms |= flatten(f"special_{k}", part.result)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])

    def align_groups(self, build: Build, values: Bundle) -> Bundle:
        """Step group_align: the products on one constant exponent, and for each group whether all are zero."""
        for g, group in enumerate(self._sums):
            zero = Signal(name=f"zero_{g}")
            sigs = Cat(values[f"{addend.name}_sig"] for addend in group.addends)
            build.m.d.comb += zero.eq(~sigs.any())
            values = group.align(build, group.max_exp(build, values)) | {f"zero_{g}": zero}
        return values

    def accumulate_groups(self, build: Build, values: Bundle) -> Bundle:
        """Step group_accumulate: each group's exact sum."""
        for group in self._sums:
            values = group.accumulate(build, values)
        return values

    def scale_groups(self, build: Build, values: Bundle) -> Bundle:
        """Step scale: the groups under their scales, as terms."""
        terms = kept(values, "c", "special")
        for g, group in enumerate(self._sums):
            part = ScaleGroup(group.term, self._scale, self.operation.e_zero)
            place_scale(build, f"scale_{g}", part, g * self._g // self._k_block, values)
            build.m.d.comb += [
                part.sign.eq(values[f"{group.name}_sign"]),
                part.total.eq(values[f"{group.name}_total"]),
                part.zero.eq(values[f"zero_{g}"]),
            ]
            terms |= flatten(f"term_{g}", part.term)
        return terms
