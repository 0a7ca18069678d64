"""Step scale: how scales change the terms of their block (golden: `STFDPA.terms`, `GSTFDPA.terms`)."""

from amaranth import Module, Mux, Signal, Value
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
    """A product under two scales: significands multiplied, exponents added, a zero at e_zero (golden: `STFDPA.scaled`).

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
        self.e_zero, self.scale = e_zero, scale
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
        prod, term, alpha, beta = self.prod, self.term, self.alpha, self.beta
        filled = prod.sig.any()
        if self.scale.has_zero:
            filled = filled & ~(alpha.zero | beta.zero)
        m.d.comb += [
            term.sign.eq(signed_by(self.scale, prod.sign, alpha, beta)),
            term.sig.eq(prod.sig * (alpha.sig * beta.sig) if self.scale.has_zero else prod.sig),
            term.exp.eq(Mux(filled, prod.exp + (alpha.exp + beta.exp), self.e_zero)),
        ]
        return m


def signed_by(scale: Format, sign: Value, alpha: Operand, beta: Operand) -> Value:
    """The sign of a term under two scales."""
    return sign ^ alpha.sign ^ beta.sign if scale.signed else sign


def scaled_format(product: TermFormat, scale: Format, e_zero: int) -> TermFormat:
    """The format of a scaled product as a term."""
    exps = product.exps + exp_range(scale) + exp_range(scale)
    more = 2 * (scale.man_bits + 1) if scale.has_zero else 0  # a scale without a zero is a power of two
    return TermFormat(exps.including(e_zero), product.sig_bits + more, product.frac + 2 * scale.man_bits)


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
        self.e_zero, self.scale = e_zero, scale
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
            term.sign.eq(signed_by(self.scale, self.sign, alpha, beta)),
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
        sign, zero: In(1), of the product, where scales may be infinite; the sign too where they have one.
    """

    special: Special
    alpha: Operand
    beta: Operand
    result: Special
    sign: Signal
    zero: Signal

    def __init__(self, scale: Format) -> None:
        self.scale = scale
        of_product = {"sign": In(1), "zero": In(1)} if scale.infinity is not None else {}
        super().__init__(
            "scale_special",
            (scale,),
            {
                **of_product,
                "special": In(SpecialSignature()),
                "alpha": In(OperandSignature.of(scale)),
                "beta": In(OperandSignature.of(scale)),
                "result": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        special, result, alpha, beta = self.special, self.result, self.alpha, self.beta
        zero, positive, negative = alpha.zero | beta.zero, special.pos_inf, special.neg_inf
        if self.scale.infinity is not None:
            sign = signed_by(self.scale, self.sign, alpha, beta)
            infinite = positive | negative | alpha.inf | beta.inf
            zero, positive, negative = zero | self.zero, infinite & ~sign, infinite & sign
        elif self.scale.signed:
            flips = alpha.sign ^ beta.sign
            positive, negative = Mux(flips, negative, positive), Mux(flips, positive, negative)
        zero_times_infinity = (positive | negative) & zero
        m.d.comb += [
            result.nan.eq(special.nan | alpha.nan | beta.nan | zero_times_infinity),
            result.pos_inf.eq(positive),
            result.neg_inf.eq(negative),
        ]
        return m
