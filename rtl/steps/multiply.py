"""Step multiply: the exact product of two operands, not renormalised (golden: `steps.multiply`, `product_special`)."""

from amaranth import Module, Mux
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.steps.component import Part
from rtl.steps.shapes import OperandSignature, SpecialSignature, TermShape, TermSignature, exp_range


class Multiply(Part):
    """Combinational multiplier of one pair.

    Args:
        a, b: formats of the operands.
        zero_exp: exponent that a zero product gets (exponent value).
        overflow_exp: a product of magnitude 2**overflow_exp or more is an infinity; None where none is.

    Members:
        x, y: In(OperandSignature).
        prod: Out(TermSignature).
        special: Out(SpecialSignature), NaN and infinities; `prod` counts only where none is set.
    """

    def __init__(self, a: Format, b: Format, zero_exp: int, overflow_exp: int | None = None) -> None:
        self.zero_exp, self.overflow_exp = zero_exp, overflow_exp
        self.shape = product_shape(a, b, zero_exp)
        super().__init__(
            "multiply",
            (a, b, zero_exp, overflow_exp),
            {
                "x": In(OperandSignature(a)),
                "y": In(OperandSignature(b)),
                "prod": Out(TermSignature(self.shape)),
                "special": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y, prod, special = self.x, self.y, self.prod, self.special
        infinite = x.inf | y.inf
        if self.overflow_exp is not None and self.shape.exps.high + 2 > self.overflow_exp:
            # The product's own top bit, or the one below it, decides; subnormal products are far from overflow.
            top = prod.exp + 1 + prod.sig[-1]
            infinite = infinite | ((top > self.overflow_exp) & ~(x.zero | y.zero))
        m.d.comb += [
            prod.sign.eq(x.sign ^ y.sign),
            prod.sig.eq(x.sig * y.sig),
            prod.exp.eq(Mux(x.zero | y.zero, self.zero_exp, x.exp + y.exp)),
            special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
            special.pos_inf.eq(infinite & ~prod.sign),
            special.neg_inf.eq(infinite & prod.sign),
        ]
        return m


def product_shape(a: Format, b: Format, zero_exp: int) -> TermShape:
    """A product's term: significands below 2 make one below 4."""
    frac = a.man_bits + b.man_bits
    return TermShape((exp_range(a) + exp_range(b)).including(zero_exp), frac + 2, frac)


class Accumulator(Part):
    """The accumulator as a term (golden: `steps.addend`, `addend_special`).

    Args:
        c: its format.
        zero_exp: exponent that a zero gets (exponent value).

    Members:
        z: In(OperandSignature). term: Out(TermSignature). special: Out(SpecialSignature).
    """

    def __init__(self, c: Format, zero_exp: int) -> None:
        self.zero_exp = zero_exp
        self.shape = TermShape(exp_range(c).including(zero_exp), c.man_bits + 1, c.man_bits)
        super().__init__(
            "addend",
            (c, zero_exp),
            {
                "z": In(OperandSignature(c)),
                "term": Out(TermSignature(self.shape)),
                "special": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        z, term, special = self.z, self.term, self.special
        m.d.comb += [
            term.sign.eq(z.sign),
            term.sig.eq(z.sig),
            term.exp.eq(Mux(z.zero, self.zero_exp, z.exp)),
            special.nan.eq(z.nan),
            special.pos_inf.eq(z.inf & ~z.sign),
            special.neg_inf.eq(z.inf & z.sign),
        ]
        return m
