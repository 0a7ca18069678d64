"""Scales: what they do to the terms of their block."""

from amaranth import Module, Mux
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle
from rtl.steps.component import Part
from rtl.steps.shapes import OperandSignature, SpecialSignature, TermShape, TermSignature, exp_range


class ScaleProduct(Part):
    """A product under two power-of-two scales: their exponents added, a zero at e_zero (golden: `STFDPA.terms`).

    Args:
        product: what the product can be; its zeros are told by their significand.
        scale: format of the scales.
        e_zero: exponent that a zero gets (exponent value).

    Members:
        prod: In(TermSignature). alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    def __init__(self, product: TermShape, scale: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        self.shape = scaled_shape(product, scale, e_zero)
        super().__init__(
            "scale",
            (product, scale, e_zero),
            {
                "prod": In(TermSignature(product)),
                "alpha": In(OperandSignature(scale)),
                "beta": In(OperandSignature(scale)),
                "term": Out(TermSignature(self.shape)),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        prod, term = self.prod, self.term
        m.d.comb += [
            term.sign.eq(prod.sign),
            term.sig.eq(prod.sig),
            term.exp.eq(Mux(prod.sig.any(), prod.exp + (self.alpha.exp + self.beta.exp), self.e_zero)),
        ]
        return m


def scaled_shape(product: TermShape, scale: Format, e_zero: int) -> TermShape:
    """A scaled product's term."""
    exps = product.exps + exp_range(scale) + exp_range(scale)
    return TermShape(exps.including(e_zero), product.sig_bits, product.frac)


class ScaleGroup(Part):
    """A group's exact dot product under its scales, as a term at the scales' exponent (golden: `GSTFDPA.terms`).

    Args:
        group: the group's sum as a term; its exponent is a constant.
        scale: format of the scales.
        e_zero: exponent of a group without a non-zero product, or under a zero scale (exponent value).

    Members:
        sign: In(1). total: In, the group's sum. zero: In(1), whether all its products are zero.
        alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    def __init__(self, group: TermShape, scale: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        self.shape = scaled_group_shape(group, scale, e_zero)
        super().__init__(
            "scale",
            (group, scale, e_zero),
            {
                "sign": In(1),
                "total": In(group.sig_bits),
                "zero": In(1),
                "alpha": In(OperandSignature(scale)),
                "beta": In(OperandSignature(scale)),
                "term": Out(TermSignature(self.shape)),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        alpha, beta, term = self.alpha, self.beta, self.term
        empty = self.zero | alpha.zero | beta.zero
        m.d.comb += [
            term.sign.eq(self.sign),
            term.sig.eq(self.total * (alpha.sig * beta.sig)),
            term.exp.eq(Mux(empty, self.e_zero, alpha.exp + beta.exp)),
        ]
        return m


def scaled_group_shape(group: TermShape, scale: Format, e_zero: int) -> TermShape:
    """A scaled group's term: the group's own exponent, a constant, moves into the fraction bits."""
    exps = (exp_range(scale) + exp_range(scale)).including(e_zero)
    return TermShape(exps, group.sig_bits + 2 * (scale.man_bits + 1), group.frac - group.exps.high + 2 * scale.man_bits)


class ScaleSpecial(Part):
    """What a block's scales do to the special of one of its products: NaN scales make NaN, 0·∞ too.

    Members:
        special: In(SpecialSignature). alpha, beta: In(OperandSignature). result: Out(SpecialSignature).
    """

    def __init__(self, scale: Format) -> None:
        super().__init__(
            "scale_special",
            (scale,),
            {
                "special": In(SpecialSignature()),
                "alpha": In(OperandSignature(scale)),
                "beta": In(OperandSignature(scale)),
                "result": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        special, result, alpha, beta = self.special, self.result, self.alpha, self.beta
        zero_times_infinity = (special.pos_inf | special.neg_inf) & (alpha.zero | beta.zero)
        m.d.comb += [
            result.nan.eq(special.nan | alpha.nan | beta.nan | zero_times_infinity),
            result.pos_inf.eq(special.pos_inf),
            result.neg_inf.eq(special.neg_inf),
        ]
        return m


def place_scale(build: Build, name: str, part: ScaleProduct | ScaleGroup | ScaleSpecial, block: int, values: Bundle) -> None:
    """Put a part in and connect it to the scales of a block."""
    build.place(name, part)
    build.drive(part.alpha, f"alpha_{block}", values)
    build.drive(part.beta, f"beta_{block}", values)
