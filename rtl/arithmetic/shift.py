"""Shifters: right by amounts beyond the width, with and without a sticky bit; left, keeping the highest bits alone."""

from amaranth import Const, Module, Mux, Signal, Value


def shift_right(m: Module, value: Value, amount: Value) -> Signal:
    """`value >> amount` as a logarithmic shifter, zero once the amount reaches the width."""
    width = len(value)
    levels = min(len(amount), max(1, (width - 1).bit_length()))
    # 1. the low bits of the amount, as many as can leave something behind
    shifted = Signal(width)
    m.d.comb += shifted.eq(value >> amount[:levels])
    if levels == len(amount):
        return shifted
    # 2. any higher bit shifts everything out
    result = Signal(width)
    m.d.comb += result.eq(Mux(amount[levels:].any(), 0, shifted))
    return result


def shift_right_sticky(m: Module, value: Value, amount: Value) -> tuple[Value, Value]:
    """`value >> amount`, and whether a one was shifted out, gathered level by level.

    Level k shifts by 2**k where bit k of the amount is set; the 2**k bits that it drops are its share of the sticky bit:

        amount = 0b101                      lost
        1 0 1 1 0 1 0 1  >> 1 (bit 0)       | 1
        0 1 0 1 1 0 1 0  >> 0 (bit 1)
        0 1 0 1 1 0 1 0  >> 4 (bit 2)       | 1 0 1 0
        0 0 0 0 0 1 0 1
    """
    width = len(value)
    levels = min(len(amount), width.bit_length())
    # 1. an amount beyond all levels shifts everything out
    beyond = amount[levels:].any()
    lost = beyond & value.any()
    # 2. the levels, the smallest shift first
    for level in range(levels):
        distance = 1 << level
        lost = lost | (amount[level] & value[:distance].any())
        shifted = Signal(width, name=f"shifted_{level}")
        m.d.comb += shifted.eq(Mux(amount[level], value >> distance, value))
        value = shifted
    return Mux(beyond, 0, value), lost


def shift_left_narrowing(m: Module, value: Value, amount: Value, keep: int) -> tuple[Value, Value]:
    """The `keep` highest bits of `value << amount`, in the width of the value, and whether a one lies below them.

    The largest distance comes first. A bit that the distances after it cannot bring among the highest is dropped at once:

        keep = 2, amount = 0b101            lost
        0 0 0 0 0 1 0 1  << 4 (bit 2)       | 0 0 0      5 bits are left: 2, and 3 that 2 + 1 places can bring there
        0 1 0 1 0        << 0 (bit 1)       | 1 0
        0 1 0            << 1 (bit 0)       | 0
        1 0
    """
    lost: Value = Const(0, 1)
    for level in reversed(range(len(amount))):
        distance = 1 << level
        width = min(len(value), keep + distance - 1)
        dropped = len(value) - width
        moved = max(0, dropped - distance)
        lost = lost | value[:moved].any() | (~amount[level] & value[moved:dropped].any())
        shifted = Signal(width, name=f"left_{level}")
        m.d.comb += shifted.eq(Mux(amount[level], (value << distance)[dropped : len(value)], value[dropped:]))
        value = shifted
    return value, lost
