"""Specials: what the sum is when a term is not finite (golden: `specials.combine`)."""

from amaranth import Cat, Module
from amaranth.lib.wiring import In, Out

from rtl.steps.component import Part
from rtl.steps.shapes import SpecialSignature


class Specials(Part):
    """Combinational merge: a NaN, or infinities of both signs, make a NaN; else an infinity wins.

    Args:
        count: terms.

    Members:
        special_0 …: In(SpecialSignature), one a term. result: Out(SpecialSignature), at most one flag set.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        terms = {f"special_{k}": In(SpecialSignature()) for k in range(count)}
        super().__init__("specials", (count,), terms | {"result": Out(SpecialSignature())})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        terms = [getattr(self, f"special_{k}") for k in range(self.count)]
        nan, pos_inf, neg_inf = (Cat(getattr(term, flag) for term in terms).any() for flag in ("nan", "pos_inf", "neg_inf"))
        result = self.result
        m.d.comb += [
            result.nan.eq(nan | (pos_inf & neg_inf)),
            result.pos_inf.eq(pos_inf & ~result.nan),
            result.neg_inf.eq(neg_inf & ~result.nan),
        ]
        return m
