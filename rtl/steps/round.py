"""Step round: a normalised sum rounded to the result's precision (golden: `Format.encode_scaled`).

A compound rounding forms both significands, as a compound adder does: N. Quach, N. Takagi, M. Flynn, "On fast IEEE rounding"
(Stanford, CSL-TR-91-459, 1991).
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.arithmetic.rounding import Mode
from rtl.steps.component import SharedComponent


class Round(SharedComponent):
    """Combinational rounding to the significand of ρ.

        norm      h f f f f | g | b b b | sticky
                  kept        |   below: whether one of these is set
                              guard: the first bit that goes
        sig     c h f f f f               c: carry

    h is the hidden bit, f the man_bits fraction bits. One more in the last place may carry out of h into c.

    Args:
        norm_bits: bits of norm, at least man_bits + 2.
        man_bits: fraction bits that the result keeps.
        mode: rounding mode of ρ; or several, one of which is chosen.
        compound: whether both significands, with and without one more, are formed while it is settled which is right.

    Members:
        sign: In(1). norm: In(norm_bits). sticky: In(1). chosen: In, one bit for each of several modes.
        sig: Out(man_bits + 2), the rounded significand; its top bit is set where rounding carried.
    """

    sign: Signal
    norm: Signal
    sticky: Signal
    chosen: Signal
    sig: Signal

    def __init__(self, norm_bits: int, man_bits: int, mode: Mode | tuple[Mode, ...], compound: bool = False) -> None:
        self.man_bits, self.mode, self.compound = man_bits, mode, compound
        members = {"sign": In(1), "norm": In(norm_bits), "sticky": In(1), "sig": Out(man_bits + 2)}
        members |= {"chosen": In(len(mode))} if isinstance(mode, tuple) else {}
        super().__init__("round", (norm_bits, man_bits, mode, compound), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. the parts of norm
        below_kept = len(self.norm) - self.man_bits - 1
        kept, guard = self.norm[below_kept:], self.norm[below_kept - 1]
        below = self.norm[: below_kept - 1].any() | self.sticky
        # 2. round
        if self.mode == "RO":  # to odd: nothing is added, so nothing carries
            m.d.comb += self.sig.eq(kept | guard | below)
        elif self.compound:
            m.d.comb += self.sig.eq(Mux(self._increment(kept[0], guard, below), kept + 1, kept))
        else:
            m.d.comb += self.sig.eq(kept + self._increment(kept[0], guard, below))
        return m

    def _increment(self, odd: Value, guard: Value, below: Value) -> Value:
        """High if rounding adds one in the last place of the magnitude."""
        if not isinstance(self.mode, tuple):
            return increment(self.mode, self.sign, odd, guard, below)
        return chosen_increment(self.mode, self.chosen, self.sign, odd, guard, below)


def chosen_increment(modes: Sequence[Mode], chosen: Value, sign: Value, odd: Value, guard: Value, below: Value) -> Value:
    """High if rounding adds one, in that of several modes whose bit of `chosen` is set."""
    ones = [increment(mode, sign, odd, guard, below) & chosen[n] for n, mode in enumerate(modes)]
    return Cat(*ones).any()


def increment(mode: Mode, sign: Value, odd: Value, guard: Value, below: Value) -> Value:
    """High if rounding adds one in the last place of the magnitude; rounding to odd adds nothing."""
    match mode:
        case "RNE":  # above the middle; in the middle, where the last bit is odd
            return guard & (below | odd)
        case "RD":
            return sign & (guard | below)
        case "RU":
            return ~sign & (guard | below)
        case "RZ" | "RO":
            return Const(0, 1)
        case "RNA":  # in the middle, or above it
            return guard
    raise ValueError(f"rounding mode must be RZ, RNE, RD, RU, RO or RNA, got {mode!r}")
