"""Reduction of many addends to two with the same sum: the first part of step accumulate."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value

from rtl.arithmetic.prefix import prefixes


def carry_save(m: Module, rows: Sequence[Value], width: int, name: str, increments: Sequence[Value] = ()) -> list[Signal]:
    """At most two rows with the same sum modulo 2**width, by layers of full adders.

    Args:
        m: where the layers go; their signals are named `<name>_<layer>_<index>`.
        rows: the addends, each extended to the width by its own signedness.
        width: bits of the result.
        increments: single bits that count too, at most `len(rows) - 2`: each fills the empty lowest place of a carry row.
    """
    layer, waiting = 0, list(increments)
    current = []
    for k, row in enumerate(rows):
        current.append(Signal(width, name=f"{name}_{layer}_{k}"))
        m.d.comb += current[-1].eq(row)
    while len(current) > 2:
        layer += 1
        reduced: list[Signal] = []
        for k in range(0, len(current) - 2, 3):
            x, y, z = current[k : k + 3]
            half = x ^ y
            lowest = waiting.pop(0) if waiting else 0
            for value in (half ^ z, Cat(lowest, (x & y) | (half & z))):
                reduced.append(Signal(width, name=f"{name}_{layer}_{len(reduced)}"))
                m.d.comb += reduced[-1].eq(value)
        current = reduced + current[len(current) // 3 * 3 :]
    return current


def magnitude_of_sum(m: Module, rows: Sequence[Value], increment: Value, adder: str) -> tuple[Value, Signal]:
    """Sign and magnitude of the sum of one or two rows and an increment, in two's complement.

    One prefix network serves the sum S and its negative: −S = ~(S − 1), which is the inverted sum without the increment.

    Args:
        m: module that the network goes into.
        rows: rows of equal width, which holds the sum.
        increment: one bit, set wherever the sum can be negative.
        adder: shape of the prefix network; as in `golden.Implementation`.

    Returns:
        Whether S is negative, and |S| in one bit less than the rows.
    """
    left, right = rows if len(rows) == 2 else (rows[0], 0)
    width = len(rows[0])
    propagate = Signal(width)
    generated = Signal(width)
    m.d.comb += [propagate.eq(left ^ right), generated.eq(left & right)]
    carries, runs = prefixes(m, generated, propagate, adder)
    negative = Signal()
    top = width - 1
    m.d.comb += negative.eq(propagate[top] ^ (carries[top - 1] | (runs[top - 1] & increment)))
    # The carry into each bit: with the increment, or without it and inverted, which inverts the sum.
    into = Signal(top)
    m.d.comb += into.eq(
        Mux(
            negative,
            ~Cat(0, carries[: top - 1]),
            Cat(increment, carries[: top - 1] | (runs[: top - 1] & increment.replicate(top - 1))),
        )
    )
    magnitude = Signal(top)
    m.d.comb += magnitude.eq(propagate[:top] ^ into)
    return negative, magnitude


def two_rows(
    m: Module, rows: Sequence[Value], width: int, name: str, reduction: str, increments: Sequence[Value] = ()
) -> list[Signal]:
    """At most two rows with the same sum modulo 2**width; arguments as `carry_save`.

    Args:
        reduction: a choice of `golden.units.unit.CIRCUIT_CHOICES["reduction"]`.
    """
    return (carry_save if reduction == "carry-save" else add_pairs)(m, rows, width, name, increments)


def add_pairs(m: Module, rows: Sequence[Value], width: int, name: str, increments: Sequence[Value] = ()) -> list[Signal]:
    """Reduce rows to at most two with the same sum modulo 2**width by a balanced tree of adders, without its last adder.
    Each increment is the carry into one of these adders."""
    waiting, layer = list(increments), 0
    current: list[Signal] = []
    for k, row in enumerate(rows):
        current.append(Signal(width, name=f"{name}_{layer}_{k}"))
        m.d.comb += current[-1].eq(row)
    while len(current) > 2:
        layer += 1
        pairs = len(current) // 2
        added = [Signal(width, name=f"{name}_{layer}_{k}") for k in range(pairs)]
        for k, node in enumerate(added):
            m.d.comb += node.eq(current[2 * k] + current[2 * k + 1] + (waiting.pop(0) if waiting else 0))
        current = added + current[2 * pairs :]
    return current
