"""A normalised sum truncated to fewer bits at its own exponent (golden: step 5 of TR-FDPA)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.formats import Format
from rtl.steps.align import Truncation
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import ExpRange, TermFormat
from rtl.steps.normalise import normalised

TRUNCATE = "truncate"
"""Name of the component, of its step, and of the sum after it."""


class TruncateNormalised(SharedComponent):
    """Combinational truncation of a normalised sum to F2 fractional bits.

        norm        h f f f f f x x     x: below F2 fraction bits
        window      h f f f f f
        moved     c h f f f f f         one more where a negative sum loses ones under RD; c: carry, the rest is then 0
        kept        h f f f f f 0 0     zeros below, where the rounding that follows needs more than F2 bits

    Args:
        total: the sum before normalisation, as a term.
        c: the format whose e_min the normalisation observed.
        F2: fractional bits kept.
        result: the format that the rounding after this one keeps; `kept` is wide enough for it.
        truncation: RD or RZ.

    Members:
        sign: In(1). norm, e_norm: In, as `Normalise` gives them.
        kept: Out, at least F2 + 1 bits. e_kept: Out, exponent of kept's top bit.
    """

    sign: Signal
    norm: Signal
    e_norm: Signal
    kept: Signal
    e_kept: Signal

    def __init__(self, total: TermFormat, c: Format, F2: int, result: Format, truncation: Truncation) -> None:
        self.F2, self.truncation = F2, truncation
        norm_bits, e_norms = normalised(total, c)
        width = max(F2 + 1, result.man_bits + 2)
        exps = ExpRange(e_norms.low, e_norms.high + 1)
        self.format = TermFormat(exps, width, width - 1)
        super().__init__(
            TRUNCATE,
            (total, c, F2, result, truncation),
            {
                "sign": In(1),
                "norm": In(norm_bits),
                "e_norm": In(e_norms.shape),
                "kept": Out(width),
                "e_kept": Out(exps.shape),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. the window of F2 + 1 bits, and whether a one lies below it
        below = max(0, len(self.norm) - self.F2 - 1)
        window = Cat(Const(0, max(0, self.F2 + 1 - len(self.norm))), self.norm[below:])
        lost = self.norm[:below].any()
        # 2. RD moves a negative sum away from zero
        moved = Signal(self.F2 + 2)
        m.d.comb += moved.eq(window + (lost & self.sign if self.truncation == "RD" else 0))
        # 3. where all ones became a power of two, the exponent takes up the carry
        carry = moved[-1]
        pad = Const(0, len(self.kept) - self.F2 - 1)
        m.d.comb += [
            self.kept.eq(Cat(pad, Mux(carry, 1 << self.F2, moved[:-1]))),
            self.e_kept.eq(self.e_norm + carry),
        ]
        return m
