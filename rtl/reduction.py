"""How many addends become two, whose sum is theirs: the first part of step accumulate."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Shape, Signal, Value


def two_rows(m: Module, addends: Sequence[Value], shape: Shape, name: str, reduction: str) -> tuple[Value, Value]:
    """Two rows with the sum of the addends, modulo 2**width of `shape`; for fewer than two addends a row is zero.

    Args:
        name: of the signals: `<name>_<level>_<index>`.
        reduction: a choice of `golden.unit.WAYS["reduction"]`.
    """
    rows = (_compressed if reduction == "carry-save" else _added)(m, addends, shape, name)
    rows += [Const(0, shape)] * (2 - len(rows))
    return rows[0], rows[1]


def _added(m: Module, addends: Sequence[Value], shape: Shape, name: str) -> list[Value]:
    """A balanced tree of adders, without the last one."""
    level, depth = list(addends), 0
    while len(level) > 2:
        above: list[Value] = []
        for k, (left, right) in enumerate(zip(level[::2], level[1::2], strict=False)):
            node = Signal(shape, name=f"{name}_{depth}_{k}")
            m.d.comb += node.eq(left + right)
            above.append(node)
        level = above + level[len(above) * 2 :]
        depth += 1
    return level


def _compressed(m: Module, addends: Sequence[Value], shape: Shape, name: str) -> list[Value]:
    """Levels of 3:2 compressors: each takes three rows to their bitwise sum and their carries, one place up."""
    level: list[Value] = []
    for k, addend in enumerate(addends):
        row = Signal(shape, name=f"{name}_{k}")
        m.d.comb += row.eq(addend)  # extended to the full width by its sign
        level.append(row)
    depth = 0
    while len(level) > 2:
        above = []
        for k in range(len(level) // 3):
            x, y, z = (row.as_unsigned() for row in level[3 * k : 3 * k + 3])
            partial, carries = (Signal(shape, name=f"{name}_{word}_{depth}_{k}") for word in ("partial", "carries"))
            m.d.comb += [partial.eq(x ^ y ^ z), carries.eq(Cat(Const(0, 1), ((x & y) | (z & (x ^ y)))[:-1]))]
            above += [partial, carries]
        level = above + level[len(level) // 3 * 3 :]
        depth += 1
    return level
