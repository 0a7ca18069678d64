"""Step normalise: the leading one of the total moved to the top, but not below the exponent e_min where there is one."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden.arithmetic.formats import Format
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR, count_leading_zeros
from rtl.arithmetic.shift import shift_left_narrowing
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
        filled: whether an input says what follows total below, zeros or ones.
        bounded: whether e_min is observed; else the leading one always comes to the top.
        narrows: bits below the significand that norm keeps, where it has no more than rounding needs and all below are
            sticky: 1, or 2 if flags are raised; 0: norm has all bits.

    Members:
        total: In. e_max: In. zeros: In, where anticipated. fill: In(1), where filled: the bit of every place below total.
        norm: Out(norm_bits), its top bit set unless the result is subnormal or zero.
        e_norm: Out, exponent of norm's top bit.
        sticky: Out(1), whether a one was lost below norm; a bit other than the fill, where that is given.
    """

    MODULE = "normalise"
    """The name of the component's Verilog module."""

    total: Signal
    e_max: Signal
    zeros: Signal
    fill: Signal
    norm: Signal
    e_norm: Signal
    sticky: Signal

    def __init__(
        self,
        total: TermFormat,
        result: Format,
        anticipated: bool = False,
        filled: bool = False,
        bounded: bool = True,
        narrows: int = 0,
    ) -> None:
        self.format, self.e_min, self.anticipated = total, result.e_min, anticipated
        self.filled, self.bounded, self.narrows = filled, bounded, narrows
        self.norm_bits, e_norms = normalised(total, result, bounded, narrows)
        #: What norm is as a term at e_norm.
        self.normalised = TermFormat(e_norms, self.norm_bits, self.norm_bits - 1)
        #: Exponents of the total's top bit.
        self.tops = top_exps(total)
        #: How far below e_min the top bit can lie: the total then moves right, until all of it is sticky.
        self.most_right = max(0, min(result.e_min - self.tops.low, self.norm_bits + 1)) if bounded else 0
        members: dict[str, Member] = {
            "total": In(total.sig_bits),
            "e_max": In(total.exps.shape),
            "norm": Out(self.norm_bits),
            "e_norm": Out(e_norms.shape),
            "sticky": Out(1),
        }
        if anticipated:
            members["zeros"] = In(range(total.sig_bits + 1))
        if filled:
            members["fill"] = In(1)
        super().__init__(self.MODULE, (total, result, anticipated, filled, bounded, narrows), self._members(members))

    def _members(self, members: dict[str, Member]) -> dict[str, Member]:
        """The component's ports, selected from those of the whole step."""
        return members

    def elaborate(self, platform: object) -> Module:
        m = Module()
        e_top, left_limit = self._limits(m)
        # 3. left, by the leading zeros or the limit, whichever is less
        moved, left, lost = self._moved_left(m, left_limit)
        if left_limit is None or not self.most_right:
            m.d.comb += [self.norm.eq(moved), self.e_norm.eq(e_top - left)]
            if self.narrows:
                m.d.comb += self.sticky.eq(lost)
            return m
        # 4. right, where the top bit lies below e_min; what leaves norm is sticky
        right = Signal(range(self.most_right + 1))
        whole = Cat(Const(0, self.most_right), moved)
        shifted = Signal(self.norm_bits + self.most_right)
        below = shifted[: self.most_right].any()
        m.d.comb += [
            right.eq(Mux(left_limit < 0, Mux(-left_limit > self.most_right, self.most_right, -left_limit), 0)),
            shifted.eq(whole >> right),
            self.norm.eq(shifted[self.most_right :]),
            self.sticky.eq(below | lost if self.narrows else below),
            self.e_norm.eq(Mux(left_limit < 0, self.e_min, e_top - left)),
        ]
        return m

    def _limits(self, m: Module) -> tuple[Signal, Signal | None]:
        # 1. the exponent of the total's top bit
        e_top = Signal(self.tops.shape)
        m.d.comb += e_top.eq(self.e_max + (self.tops.low - self.format.exps.low))
        if not self.bounded:
            return e_top, None
        # 2. how far e_min lets the total move left (right, where negative)
        left_limit = Signal(ExpRange(self.tops.low - self.e_min, self.tops.high - self.e_min).shape)
        m.d.comb += left_limit.eq(e_top - self.e_min)
        return e_top, left_limit

    def _moved_left(self, m: Module, left_limit: Signal | None) -> tuple[Value, Signal, Value]:
        """The total with its leading one at the top, or as near as `left_limit` allows; how far it was moved, and whether a
        bit was lost below it."""
        left = Signal(range(len(self.total) + 1))
        moved = Signal(self.norm_bits + (ANTICIPATION_ERROR if self.anticipated and self.narrows else 0))
        lacking = max(0, len(moved) - len(self.total))
        whole = Cat(self.fill.replicate(lacking) if self.filled else Const(0, lacking), self.total)
        lost: Value = Const(0, 1)
        if self.narrows:
            inverted = self.fill if self.filled else Const(0, 1)
            top, lost = shift_left_narrowing(m, whole ^ inverted.replicate(len(whole)), left, len(moved))
            m.d.comb += moved.eq(top ^ inverted.replicate(len(moved)))
        else:
            m.d.comb += moved.eq(self._left(whole, left))
        if self.anticipated:
            m.d.comb += left.eq(self.zeros if left_limit is None else _lesser(left_limit, self.zeros))
            corrected, left = self._corrected(m, left_limit, moved, left)
            below = len(corrected) - self.norm_bits
            fill = self.fill if self.filled else Const(0, 1)
            return corrected[below:], left, lost | (corrected[:below] ^ fill.replicate(below)).any()
        m.d.comb += left.eq(self._counted(m, left_limit))
        return moved, left, lost

    def _counted(self, m: Module, left_limit: Signal | None) -> Value:
        """The number of places by which the total moves left: its leading zeros, or the limit if that is less."""
        stop = 0 if left_limit is None else self._stop(left_limit)
        return count_leading_zeros(m, self.total | stop)

    def _left(self, value: Value, places: Value | int) -> Value:
        """A value moved left. Zeros or the fill bit enter from below; for a fill of 1 the value is inverted before and after
        the shift."""
        if not self.filled:
            return value << places
        inverted = self.fill.replicate(len(value))
        return ((value ^ inverted) << places)[: len(value)] ^ inverted

    def _stop(self, left_limit: Signal) -> Value:
        """A one where the shift has to end at the latest: so many places down, or at the top where nothing may move left.

        Or'ed into the total, it lets one count of leading zeros give the lesser of these zeros and the limit.
        """
        width = len(self.total)
        return Cat(reversed([left_limit <= 0, *(left_limit == place for place in range(1, width))]))

    def _corrected(self, m: Module, left_limit: Signal | None, moved: Signal, left: Signal) -> tuple[Signal, Signal]:
        """The significand, shifted by the anticipated count, shifted on by the 0, 1 or 2 places that the count lacks."""
        again = Signal(range(ANTICIPATION_ERROR + 1))
        corrected = Signal(len(moved))
        moved_by = Signal(range(len(self.total) + ANTICIPATION_ERROR + 1))
        at_top, one_below = moved[-1], moved[-2]
        if left_limit is not None:
            at_top, one_below = at_top | (left_limit <= self.zeros), one_below | (left_limit == self.zeros + 1)
        m.d.comb += [
            again.eq(Mux(at_top, 0, Mux(one_below, 1, 2))),
            corrected.eq(Mux(again[1], self._left(moved, 2), Mux(again[0], self._left(moved, 1), moved))),
            moved_by.eq(left + again),
        ]
        return corrected, moved_by


class NormaliseCount(Normalise):
    """The first part of `Normalise`: the number of places by which the total moves left; not used if leading zeros are
    anticipated.

    Members:
        total, e_max: In, as in `Normalise`. left: Out, the number of places.
    """

    MODULE = "normalise_count"

    left: Signal

    def _members(self, members: dict[str, Member]) -> dict[str, Member]:
        return {"total": members["total"], "e_max": members["e_max"], "left": Out(range(self.format.sig_bits + 1))}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        _, left_limit = self._limits(m)
        m.d.comb += self.left.eq(self._counted(m, left_limit))
        return m


class NormaliseShift(Normalise):
    """The second part of `Normalise`: the total moved left, then right if e_min requires it.

    Members:
        left: In, the number of places, from `NormaliseCount`. The other ports: as in `Normalise`.
    """

    left: Signal

    def _members(self, members: dict[str, Member]) -> dict[str, Member]:
        return members | {"left": In(range(self.format.sig_bits + 1))}

    def _counted(self, m: Module, left_limit: Signal | None) -> Value:
        return self.left


def _lesser(left_limit: Value, zeros: Value) -> Value:
    """The lesser of a limit, which counts as 0 where it is negative, and a number of zeros."""
    return Mux(left_limit < 0, 0, Mux(left_limit < zeros, left_limit, zeros))


def top_exps(total: TermFormat) -> ExpRange:
    """The range of the exponent of a total's top bit, which need not be its leading one."""
    offset = total.sig_bits - 1 - total.frac
    return ExpRange(total.exps.low + offset, total.exps.high + offset)


def normalised(total: TermFormat, result: Format, bounded: bool = True, narrows: int = 0) -> tuple[int, ExpRange]:
    """The width of norm (bits), and the range of e_norm."""
    tops = top_exps(total)
    lowest, highest = tops.low - total.sig_bits, tops.high
    e_norms = ExpRange(max(result.e_min, lowest), max(result.e_min, highest)) if bounded else ExpRange(lowest, highest)
    needed = result.man_bits + 1 + max(1, narrows)
    return needed if narrows else max(total.sig_bits, needed), e_norms
