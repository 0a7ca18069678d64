"""Parallel-prefix networks: every carry of an adder, by merges of neighbouring runs of bits in one of three shapes."""

from collections.abc import Callable, Iterator

from amaranth import Cat, Module, Signal, Value

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
