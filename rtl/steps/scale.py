"""Step scale: how scales change the terms of their block (golden: `STFDPA.terms`, `GSTFDPA.terms`)."""

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.formats import Format
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import (
    Operand,
    OperandSignature,
    Special,
    SpecialSignature,
    Term,
    TermFormat,
    TermSignature,
    exp_range,
)


class ScaleProduct(SharedComponent):
    """A product under two power-of-two scales: their exponents added, a zero at e_zero (golden: `STFDPA.terms`).

    Args:
        product: what the product can be; a zero is one whose significand is 0.
        scale: format of the scales.
        e_zero: exponent that a zero gets (exponent value).

    Members:
        prod: In(TermSignature). alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    prod: Term
    alpha: Operand
    beta: Operand
    term: Term

    def __init__(self, product: TermFormat, scale: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        self.format = scaled_format(product, scale, e_zero)
        super().__init__(
            "scale",
            (product, scale, e_zero),
            {
                "prod": In(TermSignature(product)),
                "alpha": In(OperandSignature.of(scale)),
                "beta": In(OperandSignature.of(scale)),
                "term": Out(TermSignature(self.format)),
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


def scaled_format(product: TermFormat, scale: Format, e_zero: int) -> TermFormat:
    """The format of a scaled product as a term."""
    exps = product.exps + exp_range(scale) + exp_range(scale)
    return TermFormat(exps.including(e_zero), product.sig_bits, product.frac)


class ScaleGroup(SharedComponent):
    """A group's exact dot product under its scales, as a term at the scales' exponent (golden: `GSTFDPA.terms`).

    Args:
        group: the group's sum as a term; its exponent is a constant.
        scale: format of the scales.
        e_zero: exponent of a group without a non-zero product, or under a zero scale (exponent value).

    Members:
        sign: In(1). total: In, the group's sum. zero: In(1), whether all its products are zero.
        alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    sign: Signal
    total: Signal
    zero: Signal
    alpha: Operand
    beta: Operand
    term: Term

    def __init__(self, group: TermFormat, scale: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        self.format = scaled_group_format(group, scale, e_zero)
        super().__init__(
            "scale",
            (group, scale, e_zero),
            {
                "sign": In(1),
                "total": In(group.sig_bits),
                "zero": In(1),
                "alpha": In(OperandSignature.of(scale)),
                "beta": In(OperandSignature.of(scale)),
                "term": Out(TermSignature(self.format)),
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


def scaled_group_format(group: TermFormat, scale: Format, e_zero: int) -> TermFormat:
    """The format of a scaled group as a term: the group's own exponent, a constant, moves into the fraction bits."""
    exps = (exp_range(scale) + exp_range(scale)).including(e_zero)
    return TermFormat(exps, group.sig_bits + 2 * (scale.man_bits + 1), group.frac - group.exps.high + 2 * scale.man_bits)


class ScaleSpecial(SharedComponent):
    """The flags of a product under the scales of its block: a NaN scale gives NaN, and so does 0·∞.

    Members:
        special: In(SpecialSignature). alpha, beta: In(OperandSignature). result: Out(SpecialSignature).
    """

    special: Special
    alpha: Operand
    beta: Operand
    result: Special

    def __init__(self, scale: Format) -> None:
        super().__init__(
            "scale_special",
            (scale,),
            {
                "special": In(SpecialSignature()),
                "alpha": In(OperandSignature.of(scale)),
                "beta": In(OperandSignature.of(scale)),
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
