"""Specials: the result of a sum with a term that is not finite (golden: `specials.combine`)."""

from amaranth import Cat, Module
from amaranth.lib.wiring import In, Out

from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import Special, SpecialSignature


class Specials(SharedComponent):
    """Combinational merge of specials: a NaN, or infinities of both signs, make a NaN; else an infinity wins.

    Args:
        count: number of terms.

    Members:
        special: In(SpecialSignature) of each term. result: Out(SpecialSignature), at most one flag set.
    """

    special: list[Special]
    result: Special

    def __init__(self, count: int) -> None:
        members = {"special": In(SpecialSignature()).array(count), "result": Out(SpecialSignature())}
        super().__init__("specials", (count,), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nan = Cat(term.nan for term in self.special).any()
        pos_inf = Cat(term.pos_inf for term in self.special).any()
        neg_inf = Cat(term.neg_inf for term in self.special).any()
        result = self.result
        m.d.comb += [
            result.nan.eq(nan | (pos_inf & neg_inf)),
            result.pos_inf.eq(pos_inf & ~result.nan),
            result.neg_inf.eq(neg_inf & ~result.nan),
        ]
        return m
