"""Step normalise: the leading one of the total moved to the top, but no further than e_min allows."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.parts import Part
from rtl.shapes import ExpRange, TermShape


class Normalise(Part):
    """Combinational normaliser: total · 2**(e_max − F) as norm · 2**(e_norm − (width − 1)), e_norm at least e_min.

    norm is at least as wide as the result's significand and a guard bit, so that what leaves it on the right is sticky.

    Args:
        shape: the total as a term; its exponent is e_max.
        result: the format to which the sum is rounded; below its e_min the result is subnormal.

    Members:
        total: In. e_max: In.
        norm: Out(norm_bits), its top bit set unless the result is subnormal or zero.
        e_norm: Out, exponent of norm's top bit.
        sticky: Out(1), whether a one was lost below norm.
    """

    def __init__(self, shape: TermShape, result: Format) -> None:
        self.shape, self.e_min = shape, result.e_min
        self.norm_bits, e_norms = normalised(shape, result)
        #: Exponents of the total's top bit.
        self.tops = top_exps(shape)
        #: How far below e_min the top bit can lie: the total then moves right, until all of it is sticky.
        self.most_right = max(0, min(result.e_min - self.tops.low, self.norm_bits + 1))
        super().__init__(
            "normalise",
            (shape, result),
            {
                "total": In(shape.sig_bits),
                "e_max": In(shape.exps.shape),
                "norm": Out(self.norm_bits),
                "e_norm": Out(e_norms.shape),
                "sticky": Out(1),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        e_top = Signal(self.tops.shape)
        room = Signal(ExpRange(self.tops.low - self.e_min, self.tops.high - self.e_min).shape)
        left = Signal(range(len(self.total) + 1))
        m.d.comb += [
            e_top.eq(self.e_max + (self.tops.low - self.shape.exps.low)),
            room.eq(e_top - self.e_min),
            left.eq(count_leading_zeros(m, self.total | self._stop(room))),
        ]
        moved = Signal(self.norm_bits)
        m.d.comb += moved.eq(Cat(Const(0, self.norm_bits - len(self.total)), self.total) << left)
        if not self.most_right:
            m.d.comb += [self.norm.eq(moved), self.e_norm.eq(e_top - left)]
            return m
        right = Signal(range(self.most_right + 1))
        whole, shifted = Cat(Const(0, self.most_right), moved), Signal(self.norm_bits + self.most_right)
        m.d.comb += [
            right.eq(Mux(room < 0, Mux(-room > self.most_right, self.most_right, -room), 0)),
            shifted.eq(whole >> right),
            self.norm.eq(shifted[self.most_right :]),
            self.sticky.eq(shifted[: self.most_right].any()),
            self.e_norm.eq(Mux(room < 0, self.e_min, e_top - left)),
        ]
        return m

    def _stop(self, room: Signal) -> Value:
        """A one where the shift has to end at the latest: `room` places down, or at the top where there is no room."""
        stops = [room == place for place in range(len(self.total))]
        return Cat(reversed([stops[0] | (room < 0), *stops[1:]]))


def top_exps(shape: TermShape) -> ExpRange:
    """Exponents of a total's top bit, which is not its leading one."""
    offset = shape.sig_bits - 1 - shape.frac
    return ExpRange(shape.exps.low + offset, shape.exps.high + offset)


def normalised(shape: TermShape, result: Format) -> tuple[int, ExpRange]:
    """Bits of norm, and what e_norm can be."""
    tops = top_exps(shape)
    e_norms = ExpRange(max(result.e_min, tops.low - shape.sig_bits), max(result.e_min, tops.high))
    return max(shape.sig_bits, result.man_bits + 2), e_norms


def count_leading_zeros(m: Module, value: Value) -> Value:
    """Zeros above the leading one, `len(value)` where there is none: pairs of halves merged, a log-depth tree.

    A level of the tree is a vector of flags (whether a block of bits has a one) and one of counts, since a signal for each
    block makes simulations slow.
    """
    width = len(value)
    levels = (width - 1).bit_length()
    found: Value = Cat(Const(0, (1 << levels) - width), value)
    counts: list[Value] = [Const(0, 0)] * len(found)
    for level in range(1, levels + 1):
        high, low = counts[1::2], counts[::2]
        merged = [
            Cat(Mux(found[2 * k + 1], high[k], low[k]), ~found[2 * k + 1]) if level > 1 else ~found[2 * k + 1]
            for k in range(len(high))
        ]
        level_found = Signal(len(high), name=f"lz_found_{level}")
        level_counts = Signal(level * len(high), name=f"lz_counts_{level}")
        m.d.comb += [level_found.eq(found[1::2] | found[::2]), level_counts.eq(Cat(merged))]
        found, counts = level_found, [level_counts.word_select(k, level) for k in range(len(high))]
    zeros = Signal(range(width + 1), name="lz_all")
    m.d.comb += zeros.eq(Mux(found, counts[0], width))
    return zeros
