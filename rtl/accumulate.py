"""Step accumulate: the exact sum of the aligned terms (golden: `steps.accumulate`), in any encoding of negative numbers."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Shape, Signal
from amaranth.lib.wiring import In, Out

from rtl.leading_zeros import anticipate_leading_zeros
from rtl.parts import Part
from rtl.reduction import two_rows


class Accumulate(Part):
    """Combinational sum of signed magnitudes; the result is a sign and a magnitude.

    Args:
        widths: bits of each aligned magnitude.
        total_bits: bits of the largest possible |total|.
        encoding: how negative terms are held in the sum, which costs area and never changes the total.
            `sign-magnitude`: positive and negative terms are summed apart, then subtracted both ways.
            `twos-complement`: every lane negates (invert and increment), the total is negated back.
            `ones-complement`: every lane inverts, one count of the negative lanes corrects the sum.
        reduction: how many terms become two; as in `golden.Implementation`.
        anticipates: whether leading zeros are anticipated beside the last adder.

    Members:
        sign_0 … , aligned_0 …: In, the terms. sign: Out(1). total: Out(total_bits), the magnitude.
        zeros: Out, where anticipated: leading zeros of total, or up to `ANTICIPATION_ERROR` fewer.
    """

    def __init__(
        self,
        widths: Sequence[int],
        total_bits: int,
        encoding: str,
        reduction: str = "adder-tree",
        anticipates: bool = False,
    ) -> None:
        self.count, self.total_bits, self.encoding = len(widths), total_bits, encoding
        self.reduction, self.anticipates = reduction, anticipates
        signs = {f"sign_{k}": In(1) for k in range(self.count)}
        magnitudes = {f"aligned_{k}": In(width) for k, width in enumerate(widths)}
        members = signs | magnitudes | {"sign": Out(1), "total": Out(total_bits)}
        if anticipates:
            members["zeros"] = Out(range(total_bits + 1))
        super().__init__("accumulate", (*widths, total_bits, encoding, reduction, anticipates), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        signs = [getattr(self, f"sign_{k}") for k in range(self.count)]
        aligned = [getattr(self, f"aligned_{k}") for k in range(self.count)]
        if self.encoding == "sign-magnitude":
            self._sum_apart(m, signs, aligned)
        else:
            self._sum_signed(m, signs, aligned)
        return m

    def _sum_apart(self, m: Module, signs: list[Signal], aligned: list[Signal]) -> None:
        positive, negative = Signal(self.total_bits), Signal(self.total_bits)
        for side, lanes in (
            (positive, [Mux(s, 0, t) for s, t in zip(signs, aligned, strict=True)]),
            (negative, [Mux(s, t, 0) for s, t in zip(signs, aligned, strict=True)]),
        ):
            x, y = two_rows(m, lanes, side.shape(), side.name, self.reduction)
            m.d.comb += side.eq(x + y)
        difference = Signal(Shape(self.total_bits + 1, signed=True))
        m.d.comb += [
            difference.eq(positive - negative),
            self.sign.eq(difference < 0),
            self.total.eq(Mux(self.sign, negative - positive, difference)),
        ]
        if self.anticipates:
            # positive − negative = positive + ~negative + 1
            m.d.comb += self.zeros.eq(
                anticipate_leading_zeros(m, Cat(positive, Const(0, 1)), ~Cat(negative, Const(0, 1)), self.total_bits)
            )

    def _sum_signed(self, m: Module, signs: list[Signal], aligned: list[Signal]) -> None:
        shape = Shape(self.total_bits + 1, signed=True)
        if self.encoding == "twos-complement":
            lanes = [Mux(s, -t, t) for s, t in zip(signs, aligned, strict=True)]
        else:
            lanes = [(Cat(t, 0) ^ s.replicate(len(t) + 1)).as_signed() for s, t in zip(signs, aligned, strict=True)]
            lanes.append(sum(signs[1:], signs[0]))  # −x = ~x + 1: one carry-in for each inverted lane
        x, y = Signal(shape), Signal(shape)
        signed_total = Signal(shape)
        rows = two_rows(m, lanes, shape, "sum", self.reduction)
        m.d.comb += [
            x.eq(rows[0]),
            y.eq(rows[1]),
            signed_total.eq(x + y),
            self.sign.eq(signed_total < 0),
            self.total.eq(Mux(self.sign, -signed_total, signed_total)),
        ]
        if self.anticipates:
            m.d.comb += self.zeros.eq(anticipate_leading_zeros(m, x, y, self.total_bits))
