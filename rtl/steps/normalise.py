"""Step normalise: the leading one of the total moved to the top, but not below the exponent e_min."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden.formats import Format
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR, count_leading_zeros
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import ExpRange, TermFormat


class Normalise(SharedComponent):
    """Combinational normaliser: total · 2**(e_max − F) as norm · 2**(e_norm − (width − 1)), e_norm at least e_min.

    norm is at least as wide as the result's significand and a guard bit, so that what leaves it on the right is sticky.

        e_top:   total   0 0 0 1 x x x x     e_top: exponent of the total's top bit
        normal   norm    1 x x x x 0 0 0     left by the leading zeros: e_norm = e_top − 3
        e_top is e_min + 2
        subnorm. norm    0 1 x x x x 0 0     left by 2 alone: e_norm = e_min
        e_top is e_min − 2
        subnorm. norm    0 0 0 0 0 1 x x     right by 2, the two x that leave are sticky: e_norm = e_min

    Args:
        total: the total as a term; its exponent is e_max.
        result: the format to which the sum is rounded; below its e_min the result is subnormal.
        anticipated: whether the leading zeros come with the total, as `Accumulate.zeros`.

    Members:
        total: In. e_max: In. zeros: In, where anticipated.
        norm: Out(norm_bits), its top bit set unless the result is subnormal or zero.
        e_norm: Out, exponent of norm's top bit.
        sticky: Out(1), whether a one was lost below norm.
    """

    total: Signal
    e_max: Signal
    zeros: Signal
    norm: Signal
    e_norm: Signal
    sticky: Signal

    def __init__(self, total: TermFormat, result: Format, anticipated: bool = False) -> None:
        self.format, self.e_min, self.anticipated = total, result.e_min, anticipated
        self.norm_bits, e_norms = normalised(total, result)
        #: What norm is as a term at e_norm.
        self.normalised = TermFormat(e_norms, self.norm_bits, self.norm_bits - 1)
        #: Exponents of the total's top bit.
        self.tops = top_exps(total)
        #: How far below e_min the top bit can lie: the total then moves right, until all of it is sticky.
        self.most_right = max(0, min(result.e_min - self.tops.low, self.norm_bits + 1))
        members: dict[str, Member] = {
            "total": In(total.sig_bits),
            "e_max": In(total.exps.shape),
            "norm": Out(self.norm_bits),
            "e_norm": Out(e_norms.shape),
            "sticky": Out(1),
        }
        if anticipated:
            members["zeros"] = In(range(total.sig_bits + 1))
        super().__init__("normalise", (total, result, anticipated), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. the exponent of the total's top bit, and how far e_min lets the total move left (right, where negative)
        e_top = Signal(self.tops.shape)
        # Verilog calls it `room`, here and in rtl/steps/convert.py: kept, so that the Verilog of a unit stays the same.
        left_limit = Signal(ExpRange(self.tops.low - self.e_min, self.tops.high - self.e_min).shape, name="room")
        m.d.comb += [
            e_top.eq(self.e_max + (self.tops.low - self.format.exps.low)),
            left_limit.eq(e_top - self.e_min),
        ]
        # 2. left, by the leading zeros or the limit, whichever is less
        moved, left = self._moved_left(m, left_limit)
        if not self.most_right:
            m.d.comb += [self.norm.eq(moved), self.e_norm.eq(e_top - left)]
            return m
        # 3. right, where the top bit lies below e_min; what leaves norm is sticky
        right = Signal(range(self.most_right + 1))
        whole, shifted = Cat(Const(0, self.most_right), moved), Signal(self.norm_bits + self.most_right)
        m.d.comb += [
            right.eq(Mux(left_limit < 0, Mux(-left_limit > self.most_right, self.most_right, -left_limit), 0)),
            shifted.eq(whole >> right),
            self.norm.eq(shifted[self.most_right :]),
            self.sticky.eq(shifted[: self.most_right].any()),
            self.e_norm.eq(Mux(left_limit < 0, self.e_min, e_top - left)),
        ]
        return m

    def _moved_left(self, m: Module, left_limit: Signal) -> tuple[Signal, Signal]:
        """The total with its leading one at the top, or as near as `left_limit` allows, and how far it was moved."""
        left = Signal(range(len(self.total) + 1))
        moved = Signal(self.norm_bits)
        m.d.comb += moved.eq(Cat(Const(0, self.norm_bits - len(self.total)), self.total) << left)
        if self.anticipated:
            m.d.comb += left.eq(Mux(left_limit < 0, 0, Mux(left_limit < self.zeros, left_limit, self.zeros)))
            return self._corrected(m, left_limit, moved, left)
        m.d.comb += left.eq(count_leading_zeros(m, self.total | self._stop(left_limit)))
        return moved, left

    def _stop(self, left_limit: Signal) -> Value:
        """A one where the shift has to end at the latest: so many places down, or at the top where nothing may move left.

        Or'ed into the total, it lets one count of leading zeros give the lesser of these zeros and the limit.
        """
        width = len(self.total)
        return Cat(reversed([left_limit <= 0, *(left_limit == place for place in range(1, width))]))

    def _corrected(self, m: Module, left_limit: Signal, moved: Signal, left: Signal) -> tuple[Signal, Signal]:
        """What was moved by an anticipated count, moved on by what that lacked: 0, 1 or 2 places."""
        again = Signal(range(ANTICIPATION_ERROR + 1))
        corrected = Signal(self.norm_bits)
        moved_by = Signal(range(len(self.total) + ANTICIPATION_ERROR + 1))
        at_top = moved[-1] | (left_limit <= self.zeros)
        one_below = moved[-2] | (left_limit == self.zeros + 1)
        m.d.comb += [
            again.eq(Mux(at_top, 0, Mux(one_below, 1, 2))),
            corrected.eq(Mux(again[1], moved << 2, Mux(again[0], moved << 1, moved))),
            moved_by.eq(left + again),
        ]
        return corrected, moved_by


def top_exps(total: TermFormat) -> ExpRange:
    """Exponents of a total's top bit, which is not its leading one."""
    offset = total.sig_bits - 1 - total.frac
    return ExpRange(total.exps.low + offset, total.exps.high + offset)


def normalised(total: TermFormat, result: Format) -> tuple[int, ExpRange]:
    """Bits of norm, and what e_norm can be."""
    tops = top_exps(total)
    e_norms = ExpRange(max(result.e_min, tops.low - total.sig_bits), max(result.e_min, tops.high))
    return max(total.sig_bits, result.man_bits + 2), e_norms
