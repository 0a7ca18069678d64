"""T-FDPA: the truncated fused dot product and add, one datapath for any parameters (golden: operations/t_fdpa.py)."""

from typing import Any

from amaranth import Module, Value
from amaranth.lib.wiring import Component, In, Out

from golden import Implementation
from golden.conversion import conversion
from golden.operations import TFDPA
from golden.specials import nvidia_nan
from rtl.accumulate import Accumulate
from rtl.align import Align
from rtl.decode import Decode
from rtl.max_exp import MaxExp
from rtl.multiply import Addend, Multiply, addend_shape, product_shape
from rtl.normalise import Normalise
from rtl.parts import place
from rtl.pipeline import Bundle, Pipeline, drive, flatten, kept
from rtl.round import Encode, Round
from rtl.shapes import ExpRange, TermShape
from rtl.specials import Specials


class TFDPADatapath(Component):
    """d = ρ(2^e_max · Σ RZ_F(term at e_max)) over L exact products and c.

    Latency: `implementation.stages` cycles without stalls; throughput: one result a cycle.

    Args:
        operation: the golden parameter object.
        implementation: encoding and stages.

    Members:
        a, b: In(L·w), element k in bits [k·w, (k+1)·w), w the format's width.
        c: In(width of c). d: Out(width of d).
        in_valid, in_ready, out_valid, out_ready: with stages > 0; a transfer happens when valid and ready are both high.
    """

    def __init__(self, operation: TFDPA, implementation: Implementation) -> None:
        self.operation, self.implementation = operation, implementation
        self.rho = conversion(operation.rho)
        members: dict[str, Any] = {
            "a": In(operation.L * operation.a.width),
            "b": In(operation.L * operation.b.width),
            "c": In(operation.c.width),
            "d": Out(operation.d.width),
        }
        if implementation.stages:
            members |= {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(members)

    @property
    def latency(self) -> int:
        """Cycles from an input transfer to its result, where nothing stalls."""
        return self.implementation.stages

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stages = self.implementation.stages
        pipeline = Pipeline(m, stages, *((self.in_valid, self.out_ready) if stages else (Value.cast(1), Value.cast(1))))
        if stages:
            m.d.comb += [self.in_ready.eq(pipeline.in_ready), self.out_valid.eq(pipeline.out_valid)]

        values = pipeline.cut("operands", {"a": self.a, "b": self.b, "c": self.c})
        values = pipeline.cut("decode", self._decode(m, platform, values))
        values = pipeline.cut("multiply", self._multiply(m, platform, values))
        values = pipeline.cut("max_exp", self._max_exp(m, platform, values))
        values = pipeline.cut("align", self._align(m, platform, values))
        values = pipeline.cut("accumulate", self._accumulate(m, platform, values))
        values = pipeline.cut("normalise", self._normalise(m, platform, values))
        values = pipeline.cut("encode", self._round(m, platform, values))
        m.d.comb += self.d.eq(values["d"])
        return m

    def _decode(self, m: Module, platform: object, values: Bundle) -> Bundle:
        operation = self.operation
        decoded: Bundle = {}
        for name, port, operand in (("x", "a", operation.a), ("y", "b", operation.b)):
            for k in range(operation.L):
                decode = Decode(operand)
                place(m, platform, f"decode_{port}_{k}", decode)
                m.d.comb += decode.code.eq(values[port].word_select(k, operand.width))
                decoded |= flatten(f"{name}_{k}", decode.x)
        decode = Decode(operation.c)
        place(m, platform, "decode_c", decode)
        m.d.comb += decode.code.eq(values["c"])
        return decoded | flatten("z", decode.x)

    def _multiply(self, m: Module, platform: object, values: Bundle) -> Bundle:
        operation = self.operation
        terms: Bundle = {}
        specials = Specials(operation.L + 1)
        place(m, platform, "specials", specials)
        for k in range(operation.L):
            multiply = Multiply(operation.a, operation.b, operation.e_zero)
            place(m, platform, f"multiply_{k}", multiply)
            drive(m, multiply.x, f"x_{k}", values)
            drive(m, multiply.y, f"y_{k}", values)
            terms |= flatten(f"term_{k}", multiply.prod)
            drive(m, getattr(specials, f"special_{k}"), "special", flatten("special", multiply.special))
        addend = Addend(operation.c, operation.e_zero)
        place(m, platform, "addend", addend)
        drive(m, addend.z, "z", values)
        terms |= flatten(f"term_{operation.L}", addend.term)
        drive(m, getattr(specials, f"special_{operation.L}"), "special", flatten("special", addend.special))
        return terms | flatten("special", specials.result)

    def _max_exp(self, m: Module, platform: object, values: Bundle) -> Bundle:
        max_exp = MaxExp([term.exps for term in self.terms])
        place(m, platform, "max_exp", max_exp)
        m.d.comb += [getattr(max_exp, f"exp_{k}").eq(values[f"term_{k}_exp"]) for k in range(len(self.terms))]
        return values | {"e_max": max_exp.e_max}

    def _align(self, m: Module, platform: object, values: Bundle) -> Bundle:
        aligned = kept(values, "e_max", "special")
        for k, term in enumerate(self.terms):
            align = Align(term, self.e_maxes, self.operation.F, self.operation.truncation)
            place(m, platform, f"align_{k}", align)
            drive(m, align.term, f"term_{k}", values)
            m.d.comb += align.e_max.eq(values["e_max"])
            aligned |= {f"sign_{k}": align.sign, f"aligned_{k}": align.aligned}
        return aligned

    def _accumulate(self, m: Module, platform: object, values: Bundle) -> Bundle:
        widths = [len(values[f"aligned_{k}"]) for k in range(len(self.terms))]
        accumulate = Accumulate(widths, self.total_bits, self.implementation.encoding)
        place(m, platform, "accumulate", accumulate)
        for k in range(len(self.terms)):
            m.d.comb += [
                getattr(accumulate, f"sign_{k}").eq(values[f"sign_{k}"]),
                getattr(accumulate, f"aligned_{k}").eq(values[f"aligned_{k}"]),
            ]
        return kept(values, "e_max", "special") | {"sign": accumulate.sign, "total": accumulate.total}

    def _normalise(self, m: Module, platform: object, values: Bundle) -> Bundle:
        normalise = Normalise(self.total_bits, self.e_maxes, self.operation.F, self.rho.rounding_format)
        place(m, platform, "normalise", normalise)
        m.d.comb += [normalise.total.eq(values["total"]), normalise.e_max.eq(values["e_max"])]
        return kept(values, "sign", "special") | {
            "norm": normalise.norm,
            "e_norm": normalise.e_norm,
            "sticky": normalise.sticky,
        }

    def _round(self, m: Module, platform: object, values: Bundle) -> Bundle:
        rounding = Round(len(values["norm"]), self.rho.rounding_format.man_bits, self.rho.mode)
        place(m, platform, "round", rounding)
        encode = Encode(self.rho, values["e_norm"].shape(), nvidia_nan(self.operation.d))
        place(m, platform, "encode", encode)
        m.d.comb += [rounding.sign.eq(values["sign"]), rounding.norm.eq(values["norm"]), encode.sign.eq(values["sign"])]
        m.d.comb += [rounding.sticky.eq(values["sticky"]), encode.e_norm.eq(values["e_norm"])]
        m.d.comb += [encode.sig.eq(rounding.sig), encode.hidden.eq(values["norm"][-1])]
        drive(m, encode.special, "special", values)
        return {"d": encode.d}

    @property
    def terms(self) -> list[TermShape]:
        """The shapes of the L products and of c."""
        operation = self.operation
        product = product_shape(operation.a, operation.b, operation.e_zero)
        return [product] * operation.L + [addend_shape(operation.c, operation.e_zero)]

    @property
    def e_maxes(self) -> ExpRange:
        """What e_max can be; c is always a term, so c's smallest exponent, or e_zero, bounds it from below."""
        highest = max(term.exps.high for term in self.terms)
        return ExpRange(self.terms[-1].exps.low, highest)

    @property
    def total_bits(self) -> int:
        """Bits of the largest |total|: L products below 4 and one c below 2, in units of 2**−F."""
        F = self.operation.F
        return ((self.operation.L << (F + 2)) + (1 << (F + 1))).bit_length()
