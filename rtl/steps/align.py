"""Step align: a term at e_max, truncated to F fractional bits (golden: `steps.align`)."""

from typing import Literal

from amaranth import Cat, Const, Module, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.rounding import Mode
from rtl.arithmetic.shift import shift_right, shift_right_sticky
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import ExpRange, Term, TermFormat, TermSignature
from rtl.steps.max_exp import gap_range

Truncation = Literal["RZ", "RD", "RO", "unshifted"]
"""Truncations of an aligned term.

`RZ`: toward zero. `RD`: toward minus infinity. `RO`: to odd, that is toward zero, with the last kept bit set where a one was
lost; the rounding of the sum then gives what it gives for the exact sum, if F leaves enough bits below the result's last.
`unshifted`: not at all, the term counts as if its exponent were e_max; right only where a term below e_max is so small that
the rounding needs to know no more of it than its sign and that it is not zero.
"""


def truncation_of(mode: Mode) -> Truncation:
    """The truncation of an aligned term for the value of a unit's key `truncation`."""
    if mode not in ("RZ", "RD", "RO"):
        raise ValueError(f"truncation must be RZ, RD or RO, got {mode!r}")
    return mode


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
        tells_lost: whether it tells, apart from what it keeps, that a one was lost; with RZ and RD.

    Members:
        term: In(TermSignature).
        e_max: In, at least term.exp; in its place gap: In, e_max − term.exp, where that is given.
        sign: Out(1). aligned: Out(width), the magnitude in units of 2**(e_max − F). lost: Out(1), where `tells_lost`.
        carry: Out, where the term has two rows: the second row of the magnitude, as wide as aligned or one bit wider. Such a
            term is `unshifted` and loses no bit.
    """

    term: Term
    e_max: Signal
    gap: Signal
    sign: Signal
    aligned: Signal
    lost: Signal
    carry: Signal

    def __init__(
        self,
        term: TermFormat,
        e_maxes: ExpRange,
        F: int,
        truncation: Truncation,
        gap_given: bool = False,
        tells_lost: bool = False,
    ) -> None:
        self.format, self.e_maxes, self.F, self.truncation, self.gap_given = term, e_maxes, F, truncation, gap_given
        self.tells_lost = tells_lost
        width = aligned_width(term, F, truncation)
        carry = {"carry": Out(width + term.carry_bits - term.sig_bits)} if term.carry_bits else {}
        super().__init__(
            "align",
            (term, e_maxes, F, truncation, gap_given, tells_lost),
            {
                "term": In(TermSignature(term)),
                **({"gap": In(gap_range(term.exps, e_maxes))} if gap_given else {"e_max": In(e_maxes.shape)}),
                "sign": Out(1),
                "aligned": Out(width),
                **carry,
                **({"lost": Out(1)} if tells_lost else {}),
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
            if term.carry is not None:
                m.d.comb += self.carry.eq(Cat(lacking, term.carry))
            return m
        # 2. the shift
        if self.gap_given:
            gap = self.gap
        else:
            gap = Signal(gap_range(self.format.exps, self.e_maxes))
            m.d.comb += gap.eq(self.e_max - term.exp)
        # 3. shift and truncate; RZ needs none of the bits that it loses, so the excess goes first where nobody asks for them
        if self.truncation == "RZ" and not self.tells_lost:
            m.d.comb += self.aligned.eq(shift_right(m, placed[excess:], gap))
            return m
        shifted, lost = shift_right_sticky(m, placed, gap)
        lost = lost | shifted[:excess].any()
        kept = shifted[excess:]
        if self.tells_lost:
            m.d.comb += self.lost.eq(lost)
        match self.truncation:
            case "RZ":
                m.d.comb += self.aligned.eq(kept)
            case "RO":
                m.d.comb += self.aligned.eq(kept | lost)
            case "RD":  # a negative term moves away from zero: one more in its magnitude wherever a one was lost
                m.d.comb += self.aligned.eq(kept + (lost & term.sign))
        return m


def aligned_width(term: TermFormat, F: int, truncation: Truncation) -> int:
    """Bits of an aligned magnitude, at least one; RD may round a full one up into one bit more."""
    return max(term.sig_bits - term.frac + F + (truncation == "RD"), 1)
