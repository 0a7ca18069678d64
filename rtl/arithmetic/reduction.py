"""Reduction of many addends to two with the same sum: the first part of step accumulate."""

from collections.abc import Sequence

from amaranth import Module, Signal, Value

from rtl.arithmetic.carry_save import carry_save


def two_rows(
    m: Module, rows: Sequence[Value], width: int, name: str, reduction: str, increments: Sequence[Value] = ()
) -> list[Signal]:
    """At most two rows with the same sum modulo 2**width; arguments as `carry_save`.

    Args:
        reduction: a choice of `golden.unit.CIRCUIT_CHOICES["reduction"]`.
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
