"""Step decode: a bit pattern split into sign, exponent, significand and class (golden: `Format.decode`)."""

from amaranth import Cat, Module, Mux
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.parts import Part
from rtl.shapes import OperandSignature


class Decode(Part):
    """Combinational decoder of one operand.

    Args:
        operand: the format of `code`.

    Members:
        code: In(width), the bit pattern.
        x: Out(OperandSignature), its parts.
    """

    def __init__(self, operand: Format) -> None:
        self.operand = operand
        super().__init__(f"decode_{operand}", (operand,), {"code": In(operand.width), "x": Out(OperandSignature(operand))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fmt, x = self.operand, self.x
        field = self.code[fmt.pad_bits :]
        man, stored_exp = field[: fmt.man_bits], field[fmt.man_bits : fmt.man_bits + fmt.exp_bits]
        hidden = stored_exp.any()  # a stored exponent of 0 means subnormal or zero
        m.d.comb += [
            x.sign.eq(self.code[-1]),
            # e_min = 1 − bias for subnormals too
            x.exp.eq(Mux(hidden, stored_exp, 1) - fmt.bias),
            x.sig.eq(Cat(man, hidden)),
            x.zero.eq(~field[: fmt.man_bits + fmt.exp_bits].any()),
        ]
        match fmt.specials:
            case "ieee":
                m.d.comb += [x.inf.eq(stored_exp.all() & ~man.any()), x.nan.eq(stored_exp.all() & man.any())]
            case "fn":
                m.d.comb += x.nan.eq(stored_exp.all() & man.all())
            case "fnuz":
                m.d.comb += [x.nan.eq(x.sign & ~field[:-1].any()), x.zero.eq(~self.code.any())]
        return m
