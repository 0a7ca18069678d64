"""Step multiply: the exact product of two operands, not renormalised (golden: `steps.multiply`, `product_special`)."""

from amaranth import Module, Mux
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.parts import Part
from rtl.shapes import OperandSignature, SpecialSignature, TermShape, TermSignature, exp_range


class Multiply(Part):
    """Combinational multiplier of one pair.

    Args:
        a, b: formats of the operands.
        e_zero: exponent that a zero product gets (exponent value).

    Members:
        x, y: In(OperandSignature).
        prod: Out(TermSignature).
        special: Out(SpecialSignature), NaN and infinities; `prod` counts only where none is set.
    """

    def __init__(self, a: Format, b: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        super().__init__(
            "multiply",
            (a, b, e_zero),
            {
                "x": In(OperandSignature(a)),
                "y": In(OperandSignature(b)),
                "prod": Out(TermSignature(product_shape(a, b, e_zero))),
                "special": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y, prod, special = self.x, self.y, self.prod, self.special
        infinite = x.inf | y.inf
        m.d.comb += [
            prod.sign.eq(x.sign ^ y.sign),
            prod.sig.eq(x.sig * y.sig),
            prod.exp.eq(Mux(x.zero | y.zero, self.e_zero, x.exp + y.exp)),
            special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
            special.pos_inf.eq(infinite & ~prod.sign),
            special.neg_inf.eq(infinite & prod.sign),
        ]
        return m


def product_shape(a: Format, b: Format, e_zero: int) -> TermShape:
    """A product's term: significands below 2 make one below 4."""
    frac = a.man_bits + b.man_bits
    return TermShape((exp_range(a) + exp_range(b)).including(e_zero), frac + 2, frac)


class Addend(Part):
    """The accumulator as a term (golden: `steps.addend`, `addend_special`).

    Args:
        c: its format.
        e_zero: exponent that a zero gets (exponent value).

    Members:
        z: In(OperandSignature). term: Out(TermSignature). special: Out(SpecialSignature).
    """

    def __init__(self, c: Format, e_zero: int) -> None:
        self.e_zero = e_zero
        super().__init__(
            "addend",
            (c, e_zero),
            {
                "z": In(OperandSignature(c)),
                "term": Out(TermSignature(addend_shape(c, e_zero))),
                "special": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        z, term, special = self.z, self.term, self.special
        m.d.comb += [
            term.sign.eq(z.sign),
            term.sig.eq(z.sig),
            term.exp.eq(Mux(z.zero, self.e_zero, z.exp)),
            special.nan.eq(z.nan),
            special.pos_inf.eq(z.inf & ~z.sign),
            special.neg_inf.eq(z.inf & z.sign),
        ]
        return m


def addend_shape(c: Format, e_zero: int) -> TermShape:
    """The accumulator's term."""
    return TermShape(exp_range(c).including(e_zero), c.man_bits + 1, c.man_bits)
