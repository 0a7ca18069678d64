"""Step multiply: exact products, not renormalised, and c as a term (golden: `steps.multiply`, `steps.addend`)."""

from dataclasses import replace

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.formats import Format
from golden.units.unit import ADDERS, MULTIPLIERS
from rtl.arithmetic.multiplier import multiply, product_rows, row_excess, row_sum
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


class Multiply(SharedComponent):
    """Combinational multiplier of one pair.

    Args:
        a, b: formats of the operands.
        zero_exp: exponent that a zero product gets (exponent value).
        overflow_exp: a product of magnitude 2**overflow_exp or more is an infinity; None where none is.
        multiplier, adder: how significands are multiplied; as in `golden.Implementation`.
        in_rows: whether the product's significand is left as two rows.

    Members:
        x, y: In(OperandSignature).
        prod: Out(TermSignature).
        special: Out(SpecialSignature), NaN and infinities; `prod` counts only where none is set.
    """

    x: Operand
    y: Operand
    prod: Term
    special: Special

    def __init__(
        self,
        a: Format,
        b: Format,
        zero_exp: int,
        overflow_exp: int | None = None,
        multiplier: str = MULTIPLIERS[0],
        adder: str = ADDERS[0],
        in_rows: bool = False,
    ) -> None:
        self.zero_exp, self.overflow_exp = zero_exp, overflow_exp
        self.multiplier, self.adder, self.in_rows = multiplier, adder, in_rows
        self.format = product_format(a, b, zero_exp)
        if in_rows:
            excess = row_excess(a.man_bits + 1, b.man_bits + 1, multiplier)
            self.format = replace(self.format, carry_bits=self.format.sig_bits + (excess > 0))
        # The adder shapes nothing where there is none.
        key = () if multiplier == MULTIPLIERS[0] and not in_rows else (multiplier, in_rows or adder)
        super().__init__(
            "multiply",
            (a, b, zero_exp, overflow_exp, *key),
            {
                "x": In(OperandSignature.of(a)),
                "y": In(OperandSignature.of(b)),
                "prod": Out(TermSignature(self.format)),
                "special": Out(SpecialSignature()),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y, prod, special = self.x, self.y, self.prod, self.special
        if prod.carry is None:
            sig = multiply(m, x.sig, y.sig, self.multiplier, self.adder)
        else:
            sig, carry = product_rows(m, x.sig, y.sig, self.multiplier)
            m.d.comb += prod.carry.eq(carry)
        infinite = x.inf | y.inf
        if self.overflow_exp is not None and self.format.exps.high + 2 > self.overflow_exp:
            # The leading one of a normal product is its top bit or the one below; subnormal products are far from overflow.
            top = prod.exp + 1 + prod.sig[-1]
            infinite = infinite | ((top > self.overflow_exp) & ~(x.zero | y.zero))
        m.d.comb += [
            prod.sign.eq(x.sign ^ y.sign),
            prod.sig.eq(sig),
            prod.exp.eq(Mux(x.zero | y.zero, self.zero_exp, x.exp + y.exp)),
            special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
            special.pos_inf.eq(infinite & ~prod.sign),
            special.neg_inf.eq(infinite & prod.sign),
        ]
        return m


class AddRows(SharedComponent):
    """Combinational adder of the two rows that `Multiply` leaves; the sum is the product's significand.

    Args:
        rows: format of the product as a term in rows.
        multiplier, adder: as in `golden.Implementation`.

    Members:
        row_0: In(sig_bits). row_1: In(carry_bits), of which a bit above the product is not read. sig: Out(sig_bits).
    """

    row_0: Signal
    row_1: Signal
    sig: Signal

    def __init__(self, rows: TermFormat, multiplier: str, adder: str) -> None:
        self.multiplier, self.adder = multiplier, adder
        members = {"row_0": In(rows.sig_bits), "row_1": In(rows.carry_bits), "sig": Out(rows.sig_bits)}
        shape = "" if multiplier == MULTIPLIERS[0] else adder  # Yosys shapes the adder of its own multiplier
        super().__init__("multiply_sum", (rows.sig_bits, rows.carry_bits, multiplier, shape), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.sig.eq(row_sum(m, self.row_0, self.row_1[: len(self.row_0)], self.multiplier, self.adder))
        return m


def product_format(a: Format, b: Format, zero_exp: int) -> TermFormat:
    """The format of a product as a term; significands below 2 give one below 4."""
    frac = a.man_bits + b.man_bits
    return TermFormat((exp_range(a) + exp_range(b)).including(zero_exp), frac + 2, frac)


class Addend(SharedComponent):
    """Component that makes a term of c (golden: `steps.addend`, `specials.addend_special`).

    Args:
        c: format of c.
        zero_exp: exponent that a zero gets (exponent value).

    Members:
        z: In(OperandSignature). term: Out(TermSignature). special: Out(SpecialSignature).
    """

    z: Operand
    term: Term
    special: Special

    def __init__(self, c: Format, zero_exp: int) -> None:
        self.zero_exp = zero_exp
        members = {
            "z": In(OperandSignature.of(c)),
            "term": Out(TermSignature(addend_format(c, zero_exp))),
            "special": Out(SpecialSignature()),
        }
        super().__init__("addend", (c, zero_exp), members)

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


def addend_format(c: Format, zero_exp: int) -> TermFormat:
    """The format of c as a term."""
    return TermFormat(exp_range(c).including(zero_exp), c.sig_bits, c.man_bits)
