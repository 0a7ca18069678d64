"""Step accumulate in the sign frame of one term (golden: `steps.in_frame`): the other sign's terms inverted, not negated."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib.wiring import In, Out

from rtl.arithmetic.carry_save import magnitude_of_sum, two_rows
from rtl.arithmetic.leading_zeros import anticipate_leading_zeros
from rtl.steps.component import SharedComponent, indexed


class AccumulateInFrame(SharedComponent):
    """Combinational sum of signed magnitudes relative to the last term, the frame; the result is a sign and a magnitude.

    A term t of the other sign is ~t = −t − 1: the increment that would negate it is left out, so each such term, a zero too,
    makes the sum one less in the frame. In two's complement a row of width w that is inverted (s = 1) is −s·2**w above its
    bits, which equals ~s·2**w − 2**w: a single bit on top of the row, and a constant.

        frame           t t t t t t t     its magnitude
        row k         ~s t t t t t t      t: the magnitude, inverted where s
        constant  C … C C 1 1 1 1 1 1     −Σ 2**w − 1: the last adder gives the magnitude of a sum with an increment

    Args:
        widths: bits of each aligned magnitude, the frame's last.
        total_bits: bits of the largest possible |total|.
        reduction: how many rows become two; as in `golden.Implementation`.
        anticipates: whether leading zeros are anticipated beside the last adder.
        adder: shape of the last adder; as in `golden.Implementation`.

    Members:
        sign_0 … , aligned_0 …: In, the terms. sign: Out(1), 0 for a zero total. total: Out(total_bits), the magnitude.
        zeros: Out, where anticipated: leading zeros of total, or up to `ANTICIPATION_ERROR` fewer.
    """

    sign: Signal
    total: Signal
    zeros: Signal

    def __init__(self, widths: Sequence[int], total_bits: int, reduction: str, anticipates: bool, adder: str) -> None:
        self.count, self.total_bits = len(widths), total_bits
        self.reduction, self.anticipates, self.adder = reduction, anticipates, adder
        signs = {f"sign_{k}": In(1) for k in range(self.count)}
        magnitudes = {f"aligned_{k}": In(width) for k, width in enumerate(widths)}
        members = signs | magnitudes | {"sign": Out(1), "total": Out(total_bits)}
        if anticipates:
            members["zeros"] = Out(range(total_bits + 1))
        super().__init__("accumulate", (*widths, total_bits, reduction, anticipates, adder), members)

    @property
    def terms(self) -> list[tuple[Signal, Signal]]:
        """The ports `sign_0` … and `aligned_0` …, by terms."""
        return list(zip(indexed(self, "sign", self.count), indexed(self, "aligned", self.count), strict=True))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        *others, (frame_sign, frame) = self.terms
        # 1. which terms are inverted
        inverted = Signal(max(1, len(others)))
        m.d.comb += inverted.eq(Cat(s ^ frame_sign for s, _ in others))
        # 2. the rows
        rows: list[Value] = [frame]
        for k, (_, t) in enumerate(others):
            rows.append(Cat(t ^ inverted[k].replicate(len(t)), ~inverted[k]))
        width = self.total_bits + 1
        constant = -sum(1 << len(t) for _, t in others) - 1
        rows.append(Const(constant & ((1 << width) - 1), width))
        # 3. one more than the rows hold; back from the frame
        summands = two_rows(m, rows, width, "sum", self.reduction)
        negative, total = magnitude_of_sum(m, summands, Const(1, 1), self.adder)
        m.d.comb += [self.sign.eq((negative ^ frame_sign) & total.any()), self.total.eq(total)]
        if self.anticipates:
            left, right = summands  # of three rows or more
            m.d.comb += self.zeros.eq(anticipate_leading_zeros(m, left, right, self.total_bits))
        return m
