"""Step align: a term at e_max, truncated to F fractional bits (golden: `steps.align`)."""

from typing import Literal

from amaranth import Cat, Const, Module, Signal
from amaranth.lib.wiring import In, Out

from rtl.arithmetic.shift import shift_right, shift_right_sticky
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import ExpRange, Term, TermFormat, TermSignature
from rtl.steps.max_exp import gap_range

Truncation = Literal["RZ", "RD", "sticky", "unshifted"]
"""How a term is truncated.

`RZ`: toward zero. `RD`: toward minus infinity. `sticky`: toward zero, with the last kept bit set where a one was lost; the
rounding of the sum then gives what it gives for the exact sum, if F leaves enough bits below the result's last. `unshifted`:
not at all, the term counts as if its exponent were e_max; right only where a term below e_max is so small that the rounding
needs to know no more of it than its sign and that it is not zero.
"""


class Align(SharedComponent):
    """Combinational right shifter of one term; the result keeps sign and magnitude apart.

    A significand of 3 fraction bits, F = 5, at a gap of 4:

        sig          1.0 1 1
        placed       1.0 1 1 0 0             F − frac zeros below: F fraction bits
        aligned      0.0 0 0 1 0 | 1 1 0 0   right by the gap; units of 2**(e_max − F) | lost

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

    term: Term
    e_max: Signal
    gap: Signal
    sign: Signal
    aligned: Signal

    def __init__(self, term: TermFormat, e_maxes: ExpRange, F: int, truncation: Truncation, gap_given: bool = False) -> None:
        self.format, self.e_maxes, self.F, self.truncation, self.gap_given = term, e_maxes, F, truncation, gap_given
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
        # 1. place the significand: zeros for the fraction bits that it lacks, a count of those that it has too many
        lacking = Const(0, max(0, self.F - self.format.frac))
        excess = max(0, self.format.frac - self.F)
        placed = Cat(lacking, term.sig)
        m.d.comb += self.sign.eq(term.sign)
        if self.truncation == "unshifted":
            m.d.comb += self.aligned.eq(placed[excess:])
            return m
        # 2. the shift
        if self.gap_given:
            gap = self.gap
        else:
            gap = Signal(gap_range(self.format.exps, self.e_maxes))
            m.d.comb += gap.eq(self.e_max - term.exp)
        # 3. shift and truncate; RZ needs none of the bits that it loses, so the excess goes first
        if self.truncation == "RZ":
            m.d.comb += self.aligned.eq(shift_right(m, placed[excess:], gap))
            return m
        shifted, lost = shift_right_sticky(m, placed, gap)
        lost = lost | shifted[:excess].any()
        kept = shifted[excess:]
        # A negative term moves away from zero under RD: one more in its magnitude wherever a one was lost.
        m.d.comb += self.aligned.eq(kept | lost if self.truncation == "sticky" else kept + (lost & term.sign))
        return m


def aligned_width(term: TermFormat, F: int, truncation: Truncation) -> int:
    """Bits of an aligned magnitude; RD may round a full one up into one bit more."""
    return term.sig_bits - term.frac + F + (truncation == "RD")
