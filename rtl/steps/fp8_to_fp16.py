"""Conversion of an FP8 operand to fp16, which is exact (golden: `chain.to_fp16`)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.formats import FP16, Format
from golden.arithmetic.specials import quiet_nan
from rtl.arithmetic.leading_zeros import count_leading_zeros
from rtl.steps.component import SharedComponent
from rtl.steps.decode import Decode


class Convert(SharedComponent):
    """Combinational converter from FP8 to fp16; a subnormal that fp16 holds as a normal number is normalised.

    Args:
        operand: the format of `code`, within the range of fp16.

    Members:
        code: In(width). converted: Out(16), fp16.
    """

    code: Signal
    converted: Signal

    def __init__(self, operand: Format) -> None:
        self.operand = operand
        super().__init__(f"convert_{operand}", (operand,), {"code": In(operand.width), "converted": Out(FP16.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. decode
        m.submodules.decode = decode = Decode(self.operand)
        x = decode.x
        # 2. normalise: left by the leading zeros, but not below fp16's e_min, which no FP8 subnormal reaches
        shifts = range(FP16.bias + self.operand.e_max + 1)
        left_limit, zeros, left = (Signal(shifts, name=name) for name in ("left_limit", "zeros", "left"))
        norm = Signal(len(x.sig))
        stored_exp = Signal(FP16.exp_bits)
        m.d.comb += [
            decode.code.eq(self.code),
            left_limit.eq(x.exp - FP16.e_min),
            zeros.eq(count_leading_zeros(m, x.sig)),
            left.eq(Mux(left_limit < zeros, left_limit, zeros)),
            norm.eq(x.sig << left),
            stored_exp.eq(Mux(norm[-1], x.exp - left + FP16.bias, 0)),
        ]
        # 3. encode; fp16 has all the fraction bits, so nothing is rounded
        finite = Cat(Const(0, FP16.man_bits - self.operand.man_bits), norm[:-1], stored_exp)
        magnitude = Mux(x.inf, FP16.signed_infinity(0), finite)
        m.d.comb += self.converted.eq(Mux(x.nan, quiet_nan(FP16), Cat(magnitude, x.sign)))
        return m
