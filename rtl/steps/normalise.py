"""Step normalise: the leading one of the total moved to the top, but no further than e_min allows."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.formats import Format
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR, count_leading_zeros
from rtl.steps.component import Part
from rtl.steps.shapes import ExpRange, TermShape


class Normalise(Part):
    """Combinational normaliser: total · 2**(e_max − F) as norm · 2**(e_norm − (width − 1)), e_norm at least e_min.

    norm is at least as wide as the result's significand and a guard bit, so that what leaves it on the right is sticky.

    Args:
        shape: the total as a term; its exponent is e_max.
        result: the format to which the sum is rounded; below its e_min the result is subnormal.
        anticipated: whether the leading zeros come with the total, as `Accumulate.zeros`.

    Members:
        total: In. e_max: In. zeros: In, where anticipated.
        norm: Out(norm_bits), its top bit set unless the result is subnormal or zero.
        e_norm: Out, exponent of norm's top bit.
        sticky: Out(1), whether a one was lost below norm.
    """

    def __init__(self, shape: TermShape, result: Format, anticipated: bool = False) -> None:
        self.shape, self.e_min, self.anticipated = shape, result.e_min, anticipated
        self.norm_bits, e_norms = normalised(shape, result)
        #: Exponents of the total's top bit.
        self.tops = top_exps(shape)
        #: How far below e_min the top bit can lie: the total then moves right, until all of it is sticky.
        self.most_right = max(0, min(result.e_min - self.tops.low, self.norm_bits + 1))
        members: dict[str, Any] = {
            "total": In(shape.sig_bits),
            "e_max": In(shape.exps.shape),
            "norm": Out(self.norm_bits),
            "e_norm": Out(e_norms.shape),
            "sticky": Out(1),
        }
        if anticipated:
            members["zeros"] = In(range(shape.sig_bits + 1))
        super().__init__("normalise", (shape, result, anticipated), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        e_top = Signal(self.tops.shape)
        room = Signal(ExpRange(self.tops.low - self.e_min, self.tops.high - self.e_min).shape)
        m.d.comb += [e_top.eq(self.e_max + (self.tops.low - self.shape.exps.low)), room.eq(e_top - self.e_min)]
        moved, left = self._moved_left(m, room)
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

    def _moved_left(self, m: Module, room: Signal) -> tuple[Signal, Signal]:
        """The total with its leading one at the top, or as near as `room` allows, and how far it was moved."""
        left = Signal(range(len(self.total) + 1))
        moved = Signal(self.norm_bits)
        m.d.comb += moved.eq(Cat(Const(0, self.norm_bits - len(self.total)), self.total) << left)
        if self.anticipated:
            m.d.comb += left.eq(Mux(room < 0, 0, Mux(room < self.zeros, room, self.zeros)))
            return self._corrected(m, room, moved, left)
        m.d.comb += left.eq(count_leading_zeros(m, self.total | self._stop(room)))
        return moved, left

    def _stop(self, room: Signal) -> Value:
        """A one where the shift has to end at the latest: `room` places down, or at the top where there is no room."""
        width = len(self.total)
        return Cat(reversed([room <= 0, *(room == place for place in range(1, width))]))

    def _corrected(self, m: Module, room: Signal, moved: Signal, left: Signal) -> tuple[Signal, Signal]:
        """What was moved by an anticipated count, moved on by what that lacked."""
        again = Signal(range(ANTICIPATION_ERROR + 1))
        corrected = Signal(self.norm_bits)
        moved_by = Signal(range(len(self.total) + ANTICIPATION_ERROR + 1))
        m.d.comb += [
            again.eq(Mux(moved[-1] | (room <= self.zeros), 0, Mux(moved[-2] | (room == self.zeros + 1), 1, 2))),
            corrected.eq(Mux(again[1], moved << 2, Mux(again[0], moved << 1, moved))),
            moved_by.eq(left + again),
        ]
        return corrected, moved_by


def top_exps(shape: TermShape) -> ExpRange:
    """Exponents of a total's top bit, which is not its leading one."""
    offset = shape.sig_bits - 1 - shape.frac
    return ExpRange(shape.exps.low + offset, shape.exps.high + offset)


def normalised(shape: TermShape, result: Format) -> tuple[int, ExpRange]:
    """Bits of norm, and what e_norm can be."""
    tops = top_exps(shape)
    e_norms = ExpRange(max(result.e_min, tops.low - shape.sig_bits), max(result.e_min, tops.high))
    return max(shape.sig_bits, result.man_bits + 2), e_norms
