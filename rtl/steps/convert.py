"""An FP8 operand as fp16, exactly (golden: `chain.to_fp16`)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.formats import FP16, Format
from golden.specials import quiet_nan
from rtl.arithmetic.leading_zeros import count_leading_zeros
from rtl.steps.component import Part
from rtl.steps.decode import Decode


class Convert(Part):
    """Combinational; a subnormal that fp16 holds as a normal number is normalised.

    Args:
        operand: the format of `code`, within the range of fp16.

    Members:
        code: In(width). converted: Out(16), fp16.
    """

    def __init__(self, operand: Format) -> None:
        self.operand = operand
        super().__init__(f"convert_{operand}", (operand,), {"code": In(operand.width), "converted": Out(FP16.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decode = decode = Decode(self.operand)
        x = decode.x
        room, zeros, left = (Signal(range(FP16.bias + self.operand.e_max + 1), name=n) for n in ("room", "zeros", "left"))
        norm = Signal(len(x.sig))
        stored_exp = Signal(FP16.exp_bits)
        m.d.comb += [
            decode.code.eq(self.code),
            room.eq(x.exp - FP16.e_min),
            zeros.eq(count_leading_zeros(m, x.sig)),
            left.eq(Mux(room < zeros, room, zeros)),
            norm.eq(x.sig << left),
            stored_exp.eq(Mux(norm[-1], x.exp - left + FP16.bias, 0)),
        ]
        finite = Cat(Const(0, FP16.man_bits - self.operand.man_bits), norm[:-1], stored_exp)
        magnitude = Mux(x.inf, FP16.signed_infinity(0), finite)
        m.d.comb += self.converted.eq(Mux(x.nan, quiet_nan(FP16), Cat(magnitude, x.sign)))
        return m
