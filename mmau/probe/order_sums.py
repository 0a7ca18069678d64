"""Orders of a few sums that give known totals, where very many orders are possible: all are computed at once."""

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from math import comb

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.products.gemm_order import Pieces

Add = Callable[[BitArray, BitArray], BitArray]
"""Adds codes of fp32 or fp64, in any shape."""

Rounded = Callable[[BitArray], BitArray]
"""Rounds totals to the format of the result."""

MOST_PIECES = 4
"""Largest number of pieces of a tile that is tried."""

MOST_CUTS = 50_000
"""Ways to cut K that are tried at a time; more pieces are left out."""


def orders_giving(
    totals: BitArray, first: BitArray, others: BitArray, add: Add, rounded: Rounded
) -> Iterator[tuple[int, ...]]:
    """The orders in which sums, added one after the other, give the totals.

    Args:
        totals: [elements], the results. first, others: [sums, elements], each sum where it comes first, and elsewhere.
    """
    count = len(first)
    taken = np.arange(count)[:, None]
    reached = first
    for _ in range(1, count):
        free = np.ones((len(taken), count), bool)
        np.put_along_axis(free, taken, False, axis=1)
        row, added = np.nonzero(free)
        taken = np.concatenate([taken[row], added[:, None]], axis=1)
        reached = add(np.ascontiguousarray(reached[row]), np.ascontiguousarray(others[added]))
    right = (rounded(reached) == totals).all(axis=1)
    yield from (tuple(order) for order in taken[right].tolist())


def pieces_giving(totals: BitArray, first: BitArray, others: BitArray, add: Add, rounded: Rounded) -> Pieces | None:
    """The pieces of K, at most `MOST_PIECES`, whose sums give the totals when they are added one after the other.

    Args:
        totals: [elements]. first, others: [begin, end, elements], the sum of each piece where it comes first, and elsewhere.
    """
    length = first.shape[1] - 1
    for count in range(1, MOST_PIECES + 1):
        if (ways := comb(length - 1, count - 1)) > MOST_CUTS:
            return None
        cuts = np.array(list(combinations(range(1, length), count - 1)), int).reshape(ways, count - 1)
        ends = np.pad(np.pad(cuts, ((0, 0), (1, 0))), ((0, 0), (0, 1)), constant_values=length)
        ascending = tuple(range(count))
        orders = permutations(ascending) if count < MOST_PIECES else (ascending, ascending[::-1])
        for order in orders:
            right = (rounded(_added(ends, order, first, others, add)) == totals).all(axis=1)
            if right.any():
                found = ends[int(np.argmax(right))].tolist()
                return tuple((found[piece], found[piece + 1]) for piece in order)
    return None


def _added(ends: npt.NDArray[np.int_], order: tuple[int, ...], first: BitArray, others: BitArray, add: Add) -> BitArray:
    """The totals [cuts, elements] of pieces that are added in an order."""
    total: BitArray = first[ends[:, order[0]], ends[:, order[0] + 1]]
    for piece in order[1:]:
        total = add(total, others[ends[:, piece], ends[:, piece + 1]])
    return total
