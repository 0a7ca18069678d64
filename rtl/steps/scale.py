"""Step scale: how scales change the terms of their block (golden: `STFDPA.terms`, `GSTFDPA.terms`)."""

from collections.abc import Sequence
from functools import reduce
from operator import add, mul, or_, xor
from typing import Any

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

BOTH = ("alpha", "beta")
"""The scales of a block of A and of B; a unit may have those of one side alone."""


class Scaling(SharedComponent):
    """A component with ports for scales, `alpha`, `beta` or both, which `sides` names."""

    scale: Format
    sides: Sequence[str]
    alpha: Operand
    beta: Operand

    def ports_of_scales(self) -> dict[str, Any]:
        """The ports."""
        return {side: In(OperandSignature.of(self.scale)) for side in self.sides}

    @property
    def scales(self) -> list[Operand]:
        """The scales as the ports have them."""
        return [getattr(self, side) for side in self.sides]

    def any_zero(self) -> Value:
        """Whether a scale is zero."""
        return reduce(or_, [x.zero for x in self.scales])

    def sig(self) -> Value:
        """The product of the significands."""
        return reduce(mul, [x.sig for x in self.scales])

    def exp(self) -> Value:
        """The sum of the exponents."""
        return reduce(add, [x.exp for x in self.scales])

    def signed(self, sign: Value) -> Value:
        """The sign of a term under the scales."""
        return reduce(xor, [x.sign for x in self.scales], sign) if self.scale.signed else sign


class ScaleProduct(Scaling):
    """A product under its scales: significands multiplied, exponents added, a zero at e_zero (golden: `STFDPA.scaled`).

    Args:
        product: what the product can be; a zero is one whose significand is 0.
        scale: format of the scales.
        e_zero: exponent that a zero gets (exponent value).
        sides: the scales, some of `BOTH`.

    Members:
        prod: In(TermSignature). alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    prod: Term
    term: Term

    def __init__(self, product: TermFormat, scale: Format, e_zero: int, sides: Sequence[str] = BOTH) -> None:
        self.e_zero, self.scale, self.sides = e_zero, scale, sides
        self.format = scaled_format(product, scale, e_zero, len(sides))
        super().__init__(
            "scale",
            (product, scale, e_zero, *sides),
            {
                "prod": In(TermSignature(product)),
                **self.ports_of_scales(),
                "term": Out(TermSignature(self.format)),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        prod, term = self.prod, self.term
        filled = prod.sig.any()
        if self.scale.has_zero:
            filled = filled & ~self.any_zero()
        m.d.comb += [
            term.sign.eq(self.signed(prod.sign)),
            term.sig.eq(prod.sig * self.sig() if self.scale.has_zero else prod.sig),
            term.exp.eq(Mux(filled, prod.exp + self.exp(), self.e_zero)),
        ]
        return m


def scaled_format(product: TermFormat, scale: Format, e_zero: int, scales: int = 2) -> TermFormat:
    """The format of a product under one or two scales as a term."""
    exps = reduce(add, [exp_range(scale)] * scales, product.exps)
    more = scales * (scale.man_bits + 1) if scale.has_zero else 0  # a scale without a zero is a power of two
    return TermFormat(exps.including(e_zero), product.sig_bits + more, product.frac + scales * scale.man_bits)


class ScaleGroup(Scaling):
    """A group's exact dot product under its scales, as a term at the scales' exponent (golden: `GSTFDPA.terms`).

    Args:
        group: the group's sum as a term; its exponent is a constant.
        scale: format of the scales.
        e_zero: exponent of a group without a non-zero product, or under a zero scale (exponent value).
        sides: the scales, some of `BOTH`.

    Members:
        sign: In(1). total: In, the group's sum. zero: In(1), whether all its products are zero.
        alpha, beta: In(OperandSignature). term: Out(TermSignature).
    """

    sign: Signal
    total: Signal
    zero: Signal
    term: Term

    def __init__(self, group: TermFormat, scale: Format, e_zero: int, sides: Sequence[str] = BOTH) -> None:
        self.e_zero, self.scale, self.sides = e_zero, scale, sides
        self.format = scaled_group_format(group, scale, e_zero, len(sides))
        super().__init__(
            "scale",
            (group, scale, e_zero, *sides),
            {
                "sign": In(1),
                "total": In(group.sig_bits),
                "zero": In(1),
                **self.ports_of_scales(),
                "term": Out(TermSignature(self.format)),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        term = self.term
        empty = reduce(or_, [x.zero for x in self.scales], self.zero)
        m.d.comb += [
            term.sign.eq(self.signed(self.sign)),
            term.sig.eq(self.total * self.sig()),
            term.exp.eq(Mux(empty, self.e_zero, self.exp())),
        ]
        return m


def scaled_group_format(group: TermFormat, scale: Format, e_zero: int, scales: int = 2) -> TermFormat:
    """The format of a scaled group as a term: the group's own exponent, a constant, moves into the fraction bits."""
    exps = reduce(add, [exp_range(scale)] * scales).including(e_zero)
    frac = group.frac - group.exps.high + scales * scale.man_bits
    return TermFormat(exps, group.sig_bits + scales * (scale.man_bits + 1), frac)


class ScaleSpecial(Scaling):
    """The flags of a product under the scales of its block: a NaN scale gives NaN, and so does 0·∞.

    Members:
        special: In(SpecialSignature). alpha, beta: In(OperandSignature). result: Out(SpecialSignature).
        sign, zero: In(1), of the product, where scales may be infinite; the sign too where they have one.
    """

    special: Special
    result: Special
    sign: Signal
    zero: Signal

    def __init__(self, scale: Format, sides: Sequence[str] = BOTH) -> None:
        self.scale, self.sides = scale, sides
        of_product = {"sign": In(1), "zero": In(1)} if scale.infinity is not None else {}
        super().__init__(
            "scale_special",
            (scale, *sides),
            {
                **of_product,
                "special": In(SpecialSignature()),
                **self.ports_of_scales(),
                "result": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        special, result = self.special, self.result
        zero, positive, negative = self.any_zero(), special.pos_inf, special.neg_inf
        if self.scale.infinity is not None:
            sign = self.signed(self.sign)
            infinite = reduce(or_, [x.inf for x in self.scales], positive | negative)
            zero, positive, negative = zero | self.zero, infinite & ~sign, infinite & sign
        elif self.scale.signed:
            flips = reduce(xor, [x.sign for x in self.scales])
            positive, negative = Mux(flips, negative, positive), Mux(flips, positive, negative)
        zero_times_infinity = (positive | negative) & zero
        m.d.comb += [
            result.nan.eq(reduce(or_, [x.nan for x in self.scales], special.nan) | zero_times_infinity),
            result.pos_inf.eq(positive),
            result.neg_inf.eq(negative),
        ]
        return m
