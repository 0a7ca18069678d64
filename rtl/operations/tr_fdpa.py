"""TR-FDPA: a truncated fused dot product, then a rounded sum with c (golden: operations/tr_fdpa.py)."""

from abc import abstractmethod

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden import Implementation
from golden.conversion import Conversion, conversion
from golden.formats import Format
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP, RoundedFDPA
from rtl.datapath import depths
from rtl.datapath.aligned_sum import Addend, AlignedSum, as_term
from rtl.datapath.base import Build, Datapath, Step
from rtl.datapath.finish import Finish
from rtl.datapath.pipeline import Bundle, kept
from rtl.datapath.stages import accumulator_term, combine_specials, decode_operands, multiply_pairs
from rtl.steps.align import Truncation
from rtl.steps.component import Part
from rtl.steps.multiply import Accumulator, Multiply, product_shape
from rtl.steps.normalise import normalised
from rtl.steps.shapes import ExpRange, TermShape


class RoundedDatapath(Datapath):
    """What TR- and GTR-FDPA share: T and c at E, their sum normalised, cut to F2 bits, converted."""

    def __init__(self, operation: RoundedFDPA, implementation: Implementation) -> None:
        self.operation = operation
        #: Below every exponent of a non-zero product and of c, so that a zero product never decides.
        self.zero_exp = min(operation.a.e_min + operation.b.e_min, operation.c.e_min)
        self.product = product_shape(operation.a, operation.b, self.zero_exp)
        self._accumulator = Accumulator(operation.c, operation.c.e_min)
        super().__init__(operation, implementation)

    @abstractmethod
    def dot_steps(self) -> tuple[list[Step], TermShape]:
        """The steps from the products prod_0 … to T, as the term `dot`, and what it can be."""

    def steps(self) -> list[Step]:
        operation, truncation = self.operation, self.truncation
        dot_steps, dot = self.dot_steps()
        addends = [
            Addend(name="dot", shape=dot, F=operation.F2 + 1, truncation=truncation),
            Addend(name="c", shape=self._accumulator.shape, F=operation.F, truncation=truncation),
        ]
        out = AlignedSum("out", addends, self.implementation, normalised=True)

        def max_exp(build: Build, values: Bundle) -> Bundle:
            return self.drop_c(build, out.max_exp(build, values), out.exps)

        return [
            Step("decode", depths.DECODE, self._decode),
            Step("multiply", depths.multiply(operation.a, operation.b), self._multiply),
            *dot_steps,
            Step("out_max_exp", depths.max_exp(2), max_exp),
            Step("out_align", self.align_depth, out.align),
            Step("out_accumulate", depths.accumulate(2), out.accumulate),
            *self._finish(out),
        ]

    def _finish(self, out: AlignedSum) -> list[Step]:
        """The sum normalised, cut to F2 bits where its leading one stands, and converted."""
        c, F2 = self.operation.c, self.operation.F2
        rho = conversion(self.operation.rho)
        exact = Conversion("exact", "RZ", c, c)
        normalise = Finish("out", out.term, exact, self.implementation, canonical=False).normalise
        cut = CutNormalised(out.term, c, F2, rho.rounding_format, self.truncation)
        finish = Finish("cut", cut.term, rho, self.implementation, canonical=False)

        def cut_step(build: Build, values: Bundle) -> Bundle:
            build.place("cut", cut)
            sign = values["out_sign"]
            build.m.d.comb += [cut.sign.eq(sign), cut.norm.eq(values["out_norm"]), cut.e_norm.eq(values["out_e_norm"])]
            kept_values = kept(values, "special") | {"cut_sign": sign}
            if rho.rounding_format.e_min == c.e_min:  # normalised already
                return kept_values | {"cut_norm": cut.kept, "cut_e_norm": cut.e_kept, "cut_sticky": Const(0, 1)}
            return finish.normalise(build, kept_values | {"cut_total": cut.kept, "cut_exp": cut.e_kept})

        return [
            Step("normalise", depths.NORMALISE, normalise),
            Step("cut", depths.CUT, cut_step),
            Step("encode", depths.encode(rho), finish.encode),
        ]

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        return decode_operands(build, values, self.operation)

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self.zero_exp, PRODUCT_OVERFLOW_EXP) for _ in range(operation.L)]
        terms = multiply_pairs(build, values, parts) | accumulator_term(build, values, self._accumulator)
        return combine_specials(build, terms, [*(f"special_{k}" for k in range(operation.L)), "special_c"])

    def products(self, ks: range) -> list[Addend]:
        """The products of those indices, cut toward zero to F bits."""
        return [Addend(name=f"prod_{k}", shape=self.product, F=self.operation.F, truncation="RZ") for k in ks]

    @property
    def truncation(self) -> Truncation:
        """How T, c and their sum are cut."""
        return "RD" if self.operation.truncation == "RD" else "RZ"

    @property
    def align_depth(self) -> int:
        """Depth of an alignment that cuts so."""
        return depths.ALIGN_DOWN if self.truncation == "RD" else depths.ALIGN

    def drop_c(self, build: Build, values: Bundle, e_outs: ExpRange) -> Bundle:
        """Whether c still counts once E is known: in TR-FDPA, always."""
        return values


class TRFDPADatapath(RoundedDatapath):
    """One group of L products."""

    def dot_steps(self) -> tuple[list[Step], TermShape]:
        dot = AlignedSum("dot", self.products(range(self.operation.L)), self.implementation)

        def accumulate(build: Build, values: Bundle) -> Bundle:
            return as_term("dot", dot.accumulate(build, values))

        terms = self.operation.L
        steps = [
            Step("max_exp", depths.max_exp(terms), dot.max_exp),
            Step("align", depths.ALIGN, dot.align),
            Step("accumulate", depths.accumulate(terms), accumulate),
        ]
        return steps, dot.term


class CutNormalised(Part):
    """A normalised sum cut to F2 fractional bits at its own exponent (golden: step 5 of TR-FDPA).

    Args:
        total: the sum before normalisation, as a term.
        c: the format whose e_min the normalisation observed.
        F2: fractional bits kept.
        result: the format that the rounding after this one keeps; `kept` leaves room for it.
        truncation: RD or RZ.

    Members:
        sign: In(1). norm, e_norm: In, as `Normalise` gives them.
        kept: Out, at least F2 + 1 bits. e_kept: Out, exponent of kept's top bit.
    """

    def __init__(self, total: TermShape, c: Format, F2: int, result: Format, truncation: Truncation) -> None:
        self.F2, self.truncation = F2, truncation
        norm_bits, e_norms = normalised(total, c)
        width = max(F2 + 1, result.man_bits + 2)
        exps = ExpRange(e_norms.low, e_norms.high + 1)
        self.term = TermShape(exps, width, width - 1)
        super().__init__(
            "cut",
            (total, c, F2, result, truncation),
            {
                "sign": In(1),
                "norm": In(norm_bits),
                "e_norm": In(e_norms.shape),
                "kept": Out(width),
                "e_kept": Out(exps.shape),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        below = max(0, len(self.norm) - self.F2 - 1)
        window = Cat(Const(0, max(0, self.F2 + 1 - len(self.norm))), self.norm[below:])
        lost = self.norm[:below].any()
        moved = Signal(self.F2 + 2)
        m.d.comb += moved.eq(window + (lost & self.sign if self.truncation == "RD" else 0))
        carry = moved[-1]  # all ones became a power of two
        pad = Const(0, len(self.kept) - self.F2 - 1)
        m.d.comb += [
            self.kept.eq(Cat(pad, Mux(carry, 1 << self.F2, moved[:-1]))),
            self.e_kept.eq(self.e_norm + carry),
        ]
        return m
