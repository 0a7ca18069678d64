"""Leading zeros of a total: counted in it, or anticipated from the addends of the last adder."""

from amaranth import Cat, Const, Module, Mux, Shape, Signal, Value

ANTICIPATION_ERROR = 2
"""An anticipated count is right or too small, by at most so many."""


def count_leading_zeros(m: Module, value: Value) -> Value:
    """Zeros above the leading one, `len(value)` where there is none: halves compared, then merged (a log-depth tree)."""
    width = len(value)
    size = 1 << max(0, (width - 1).bit_length())
    # Padding with ones below makes a zero value count exactly its width.
    bits = Cat(Const(-1, Shape(size - width)), value) if size > width else value
    counted = _count(m, bits, "lz")
    if size > width:
        return counted
    zeros = Signal(range(width + 1), name="lz_all")
    m.d.comb += zeros.eq(Mux(value.any(), counted, width))
    return zeros


def _count(m: Module, bits: Value, name: str) -> Value:
    """Leading zeros of a power-of-two number of bits that are not all zero."""
    size = len(bits)
    if size == 1:
        return Const(0, 0)
    low, high = bits[: size // 2], bits[size // 2 :]
    empty = Signal(name=f"{name}_empty")
    half = Signal(size // 2, name=f"{name}_half")
    m.d.comb += [empty.eq(~high.any()), half.eq(Mux(empty, low, high))]
    return Cat(_count(m, half, f"{name}{size // 2}"), empty)


def anticipate_leading_zeros(m: Module, x: Value, y: Value, total_bits: int) -> Value:
    """Leading zeros, in `total_bits` bits, of |x + y| or |x + y + 1|, without the addition; see `ANTICIPATION_ERROR`.

    M. S. Schmookler, K. J. Nowka, "Leading zero anticipation and detection" (ARITH-15, 2001), the indicator for sums of
    either sign: from the top, digits of x + y run through propagate* generate kill* or propagate* kill generate*, and the
    first place that breaks the pattern is the leading one's or the one above. A power of two's magnitude may lie one higher.

    Args:
        x, y: total_bits + 1 bits each, two's complement; |x + y + 1| and |x + y| fit total_bits bits once a carry out of
            the top is dropped, which sums in carry-save form may have.
    """
    x, y = x.as_unsigned(), y.as_unsigned()
    propagate, generate, kill = x ^ y, x & y, ~(x | y)
    not_kill_below, not_generate_below = Cat(Const(0, 1), ~kill[:-1]), Cat(Const(1, 1), ~generate[:-1])
    after_propagate = (generate & not_kill_below) | (kill & not_generate_below)
    after_others = (kill & not_kill_below) | (generate & not_generate_below)
    # At the top either may go on: the place above it is not known once a carry was dropped.
    propagate_above = propagate[1:]
    lower = (propagate_above & after_propagate[:-1]) | (~propagate_above & after_others[:-1])
    breaks = Signal(total_bits + 1)
    m.d.comb += breaks.eq(Cat(lower, after_propagate[-1] & after_others[-1]))
    # The leading one is at most one place above the first break, or in the lowest place where nothing breaks.
    at_most = Signal(total_bits)
    m.d.comb += at_most.eq(Cat(Const(1, 1), breaks[: total_bits - 1]) | (breaks[total_bits - 1 :].any() << (total_bits - 1)))
    return count_leading_zeros(m, at_most)
