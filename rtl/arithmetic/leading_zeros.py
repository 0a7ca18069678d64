"""Leading zeros of a total: counted in it, or anticipated from the addends of the last adder."""

from amaranth import Cat, Const, Module, Mux, Signal, Value

ANTICIPATION_ERROR = 2
"""An anticipated count of leading zeros is right, or too small by at most this number."""


def count_leading_zeros(m: Module, value: Value) -> Value:
    """Count the zeros above the leading one (`len(value)` if there is none), by a log-depth tree that merges pairs of
    halves."""
    width = len(value)
    size = 1 << max(0, (width - 1).bit_length())
    bits = Signal(size, name="lz_bits")  # a signal, for every leaf below takes a slice: the value is made once
    m.d.comb += bits.eq(Cat(Const(0, size - width), value))
    found, count = _leading_zeros(m, bits, "lz")
    zeros = Signal(range(width + 1), name="lz_all")
    m.d.comb += zeros.eq(Mux(found, count, width))
    return zeros


def _leading_zeros(m: Module, bits: Value, name: str) -> tuple[Value, Value]:
    """Return whether any of a power-of-two number of bits is one, and the count of zeros above the highest one."""
    half = len(bits) // 2
    if not half:
        return bits, Const(0, 0)
    low_found, low = _leading_zeros(m, bits[:half], f"{name}_low")
    high_found, high = _leading_zeros(m, bits[half:], f"{name}_high")
    found, count = Signal(name=f"{name}_found"), Signal((len(bits) - 1).bit_length(), name=f"{name}_count")
    m.d.comb += [found.eq(low_found | high_found), count.eq(Cat(Mux(high_found, high, low), ~high_found))]
    return found, count


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
