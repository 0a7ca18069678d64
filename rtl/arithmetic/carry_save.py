"""Sums of many addends: their reduction to two with the same sum, by layers of full adders or a tree of adders, and the
prefix networks of the carries of an adder. This is the first part of step accumulate."""

from collections.abc import Callable, Iterator, Sequence

from amaranth import Cat, Module, Mux, Signal, Value

from golden.checks import check_choice
from golden.units.unit import ADDERS

Merge = tuple[int, int, str]
"""One merge of a prefix network: a bit, the lower bit whose run is merged into the first bit's run, and the name of the
network's row."""


def prefixes(m: Module, generated: Value, propagate: Value, shape: str = ADDERS[0]) -> tuple[Value, Value]:
    """Compute, for each bit, whether a carry leaves it when none comes in, and whether it would pass on an incoming carry.

    Args:
        m: module that the network goes into; its signals are named `carry_<row>_<bit>` and `run_<row>_<bit>`.
        generated, propagate: for each bit, whether it generates a carry, and whether it propagates one; of one width.
        shape: one of `golden.units.unit.ADDERS`.
    """
    check_choice("adder", shape, ADDERS)
    width = len(generated)
    carries, runs = list(generated), list(propagate)
    for bit, below, row in SHAPES[shape](width):
        carry, run = Signal(name=f"carry_{row}_{bit}"), Signal(name=f"run_{row}_{bit}")
        m.d.comb += [carry.eq(carries[bit] | (runs[bit] & carries[below])), run.eq(runs[bit] & runs[below])]
        carries[bit], runs[bit] = carry, run
    return Cat(carries), Cat(runs)


def brent_kung(width: int) -> Iterator[Merge]:
    """Pairs, pairs of pairs and so on up; then the prefixes in between, down again: about 2·width merges, 2·log2 rows.

    R. P. Brent, H. T. Kung, "A regular layout for parallel adders" (IEEE Transactions on Computers C-31, 1982).
    """
    distances = _distances(width)
    for distance in distances:
        for bit in range(2 * distance - 1, width, 2 * distance):
            yield bit, bit - distance, f"up_{distance}"
    for distance in reversed(distances):
        for bit in range(3 * distance - 1, width, 2 * distance):
            yield bit, bit - distance, f"down_{distance}"


def sklansky(width: int) -> Iterator[Merge]:
    """The lower half of every block is merged into all bits of its upper half: width/2 merges in each of log2 rows.

    The fewest rows, at the price of signals that drive up to width/2 merges.
    J. Sklansky, "Conditional-sum addition logic" (IRE Transactions on Electronic Computers EC-9, 1960).
    """
    for distance in _distances(width):
        for bit in range(width):
            if bit & distance:
                yield bit, bit // distance * distance - 1, f"half_{distance}"


def kogge_stone(width: int) -> Iterator[Merge]:
    """Every bit merges the run `distance` below it in each of log2 rows: the fewest rows, each signal drives two merges.

    P. M. Kogge, H. S. Stone, "A parallel algorithm for the efficient solution of a general class of recurrence equations"
    (IEEE Transactions on Computers C-22, 1973).
    """
    for distance in _distances(width):
        for bit in reversed(range(distance, width)):  # from the top: the run below is still that of the row before
            yield bit, bit - distance, f"stride_{distance}"


def _distances(width: int) -> list[int]:
    return [1 << level for level in range((width - 1).bit_length())]


SHAPES: dict[str, Callable[[int], Iterator[Merge]]] = {
    "brent-kung": brent_kung,
    "sklansky": sklansky,
    "kogge-stone": kogge_stone,
}


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
