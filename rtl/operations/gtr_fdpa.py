"""GTR-FDPA: TR-FDPA over two groups, the even and the odd products (golden: operations/gtr_fdpa.py)."""

from amaranth import Mux

from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum, as_term
from rtl.datapath.base import Build, Step
from rtl.datapath.pipeline import Bundle
from rtl.operations.tr_fdpa import RoundedDatapath
from rtl.steps.shapes import ExpRange, TermShape


class GTRFDPADatapath(RoundedDatapath):
    """Even-index and odd-index products are summed apart, each group at its own largest exponent."""

    def dot_steps(self) -> tuple[list[Step], TermShape]:
        operation, implementation = self.operation, self.implementation
        indices = {"even": range(0, operation.L, 2), "odd": range(1, operation.L, 2)}
        groups = [AlignedSum(name, self.products(ks), implementation) for name, ks in indices.items() if ks]
        sums = [Addend(name=g.name, shape=g.term, F=operation.F, truncation=self.truncation) for g in groups]
        dot = AlignedSum("dot", sums, implementation)

        def max_exp(build: Build, values: Bundle) -> Bundle:
            for group in groups:
                values = group.max_exp(build, values)
            return values

        def align(build: Build, values: Bundle) -> Bundle:
            for group in groups:
                values = group.align(build, values)
            return values

        def accumulate(build: Build, values: Bundle) -> Bundle:
            for group in groups:
                values = as_term(group.name, group.accumulate(build, values))
            return values

        def align_groups(build: Build, values: Bundle) -> Bundle:
            return dot.align(build, dot.max_exp(build, values))

        def accumulate_groups(build: Build, values: Bundle) -> Bundle:
            return as_term("dot", dot.accumulate(build, values))

        terms = len(indices["even"])
        steps = [
            Step("max_exp", depths.max_exp(terms), max_exp),
            Step("align", depths.ALIGN, align),
            Step("accumulate", depths.accumulate(terms), accumulate),
            Step("dot_align", depths.max_exp(2) + self.align_depth, align_groups),
            Step("dot_accumulate", depths.accumulate(2), accumulate_groups),
        ]
        return steps, dot.term

    def drop_c(self, build: Build, values: Bundle, e_outs: ExpRange) -> Bundle:
        """A c more than F + 1 exponents below E counts as 0."""
        dropped = values["c_exp"] < values["out_exp"] - (self.operation.F + 1)
        return values | {"c_sig": Mux(dropped, 0, values["c_sig"])}
