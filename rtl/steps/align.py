"""Step align: a term moved to e_max and cut to F fractional bits (golden: `steps.align`)."""

from typing import Literal

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from rtl.steps.component import Part
from rtl.steps.max_exp import gap_range
from rtl.steps.shapes import ExpRange, TermShape, TermSignature

Truncation = Literal["RZ", "RD", "sticky", "unmoved"]
"""How a term is cut: toward zero; toward minus infinity; or toward zero with the last kept bit set where a one was lost,
which is as good as an exact sum to a rounding that follows, if F leaves enough bits below the result's. An unmoved term is
not cut: it counts as if its exponent were e_max, which is right where it is smaller only when no more than its being there
matters."""


class Align(Part):
    """Combinational right shifter of one term; the result keeps sign and magnitude apart.

    Args:
        term: what the term can be.
        e_maxes: what e_max can be.
        F: fractional bits kept.
        truncation: see `Truncation`.
        gap_given: whether e_max − term.exp comes from outside.

    Members:
        term: In(TermSignature).
        e_max: In, at least term.exp; in its place gap: In, e_max − term.exp, where that is given.
        sign: Out(1). aligned: Out(width), the magnitude in units of 2**(e_max − F).
    """

    def __init__(self, term: TermShape, e_maxes: ExpRange, F: int, truncation: Truncation, gap_given: bool = False) -> None:
        self.shape, self.e_maxes, self.F, self.truncation, self.gap_given = term, e_maxes, F, truncation, gap_given
        super().__init__(
            "align",
            (term, e_maxes, F, truncation, gap_given),
            {
                "term": In(TermSignature(term)),
                **({"gap": In(gap_range(term.exps, e_maxes))} if gap_given else {"e_max": In(e_maxes.shape)}),
                "sign": Out(1),
                "aligned": Out(aligned_width(term, F, truncation)),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        term = self.term
        above = Const(0, max(0, self.F - self.shape.frac))  # fraction bits that the significand does not have
        below = max(0, self.shape.frac - self.F)  # fraction bits that it has too many of
        placed = Cat(above, term.sig)
        m.d.comb += self.sign.eq(term.sign)
        if self.truncation == "unmoved":
            m.d.comb += self.aligned.eq(placed[below:])
            return m
        gap = self.gap if self.gap_given else Signal(gap_range(self.shape.exps, self.e_maxes))
        if not self.gap_given:
            m.d.comb += gap.eq(self.e_max - term.exp)
        if self.truncation == "RZ":
            m.d.comb += self.aligned.eq(shift_right(m, placed[below:], gap))
            return m
        shifted, lost = shift_right_sticky(m, placed, gap)
        lost = lost | shifted[:below].any()
        kept = shifted[below:]
        m.d.comb += self.aligned.eq(kept | lost if self.truncation == "sticky" else kept + (lost & term.sign))
        return m


def aligned_width(term: TermShape, F: int, truncation: Truncation) -> int:
    """Bits of an aligned magnitude; RD may round a full one up into one bit more."""
    return term.sig_bits - term.frac + F + (truncation == "RD")


def shift_right(m: Module, value: Value, amount: Signal) -> Signal:
    """`value >> amount` as a logarithmic shifter, zero once the amount reaches the width."""
    width = len(value)
    levels = min(len(amount), max(1, (width - 1).bit_length()))
    shifted = Signal(width)
    m.d.comb += shifted.eq(value >> amount[:levels])
    if levels == len(amount):
        return shifted
    result = Signal(width)
    m.d.comb += result.eq(Mux(amount[levels:].any(), 0, shifted))
    return result


def shift_right_sticky(m: Module, value: Value, amount: Signal) -> tuple[Value, Value]:
    """`value >> amount`, and whether a one was shifted out, gathered level by level."""
    width = len(value)
    levels = min(len(amount), width.bit_length())
    beyond = amount[levels:].any()
    lost = beyond & value.any()
    for level in range(levels):
        distance = 1 << level
        lost = lost | (amount[level] & value[:distance].any())
        shifted = Signal(width, name=f"shifted_{level}")
        m.d.comb += shifted.eq(Mux(amount[level], value >> distance, value))
        value = shifted
    return Mux(beyond, 0, value), lost
