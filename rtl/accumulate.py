"""Step accumulate: the exact sum of the aligned terms (golden: `steps.accumulate`), in any encoding of negative numbers."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Shape, Signal, Value
from amaranth.lib.wiring import In, Out

from rtl.parts import Part


class Accumulate(Part):
    """Combinational sum of signed magnitudes by a balanced adder tree; the result is a sign and a magnitude.

    Args:
        widths: bits of each aligned magnitude.
        total_bits: bits of the largest possible |total|.
        encoding: how negative terms are held in the tree, which costs area and never changes the total.
            `sign-magnitude`: positive and negative terms are summed apart, then subtracted both ways.
            `twos-complement`: every lane negates (invert and increment), the total is negated back.
            `ones-complement`: every lane inverts, one count of the negative lanes corrects the sum.

    Members:
        sign_0 … , aligned_0 …: In, the terms. sign: Out(1). total: Out(total_bits), the magnitude.
    """

    def __init__(self, widths: Sequence[int], total_bits: int, encoding: str) -> None:
        self.count, self.total_bits, self.encoding = len(widths), total_bits, encoding
        signs = {f"sign_{k}": In(1) for k in range(self.count)}
        magnitudes = {f"aligned_{k}": In(width) for k, width in enumerate(widths)}
        members = signs | magnitudes | {"sign": Out(1), "total": Out(total_bits)}
        super().__init__("accumulate", (*widths, total_bits, encoding), members)

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
        shape = Shape(self.total_bits)
        positive = add_tree(m, [Mux(s, 0, t) for s, t in zip(signs, aligned, strict=True)], shape, "positive")
        negative = add_tree(m, [Mux(s, t, 0) for s, t in zip(signs, aligned, strict=True)], shape, "negative")
        difference = Signal(Shape(self.total_bits + 1, signed=True))
        m.d.comb += [
            difference.eq(positive - negative),
            self.sign.eq(difference < 0),
            self.total.eq(Mux(self.sign, negative - positive, difference)),
        ]

    def _sum_signed(self, m: Module, signs: list[Signal], aligned: list[Signal]) -> None:
        shape = Shape(self.total_bits + 1, signed=True)
        if self.encoding == "twos-complement":
            lanes = [Mux(s, -t, t) for s, t in zip(signs, aligned, strict=True)]
        else:
            lanes = [(Cat(t, 0) ^ s.replicate(len(t) + 1)).as_signed() for s, t in zip(signs, aligned, strict=True)]
            lanes.append(sum(signs[1:], signs[0]))  # −x = ~x + 1: one carry-in for each inverted lane
        signed_total = add_tree(m, lanes, shape, "sum")
        m.d.comb += [
            self.sign.eq(signed_total < 0),
            self.total.eq(Mux(self.sign, -signed_total, signed_total)),
        ]


def add_tree(m: Module, terms: Sequence[Value], shape: Shape, name: str) -> Value:
    """The sum of the terms in `shape`, by a balanced tree whose nodes are named `<name>_<level>_<index>`."""
    level, depth = list(terms), 0
    while len(level) > 1:
        above: list[Value] = []
        for k, (left, right) in enumerate(zip(level[::2], level[1::2], strict=False)):
            node = Signal(shape, name=f"{name}_{depth}_{k}")
            m.d.comb += node.eq(left + right)
            above.append(node)
        level = above + level[len(above) * 2 :]
        depth += 1
    return level[0]
