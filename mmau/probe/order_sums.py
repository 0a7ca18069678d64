"""Orders of a few sums that give known totals, where very many orders are possible: all are computed at once, for one
element at first, and those that give it for more."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import combinations, permutations
from math import comb

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.products.gemm_order import Pieces

Add = Callable[[BitArray, BitArray], BitArray]
"""Adds codes of fp32 or fp64, in any shape."""

Rounded = Callable[[BitArray, slice], BitArray]
"""Rounds the totals of some elements to the format of the result."""

Ways = npt.NDArray[np.int_]
"""Ways to add sums, one in each row."""

FEWER_FIRST = (slice(0, 1), slice(1, 4), slice(4, None))
"""The elements that are computed of all ways, then of those that give these, and so on."""

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

    def added(ways: Ways, elements: slice) -> BitArray:
        total: BitArray = first[ways[:, 0], elements]
        for sums in ways.T[1:]:
            total = add(total, others[sums, elements])
        return total

    yield from (tuple(order) for order in _right(_every_order(len(first)), added, totals, rounded).tolist())


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
            right = _right(ends, partial(_added, order, first, others, add), totals, rounded)
            if len(right):
                found = right[0].tolist()
                return tuple((found[piece], found[piece + 1]) for piece in order)
    return None


def _right(ways: Ways, added: Callable[[Ways, slice], BitArray], totals: BitArray, rounded: Rounded) -> Ways:
    """The ways that give the totals [elements]."""
    for elements in FEWER_FIRST:
        if len(ways) and len(totals[elements]):
            ways = ways[(rounded(added(ways, elements), elements) == totals[elements]).all(axis=1)]
    return ways


@lru_cache
def _every_order(count: int) -> Ways:
    return np.array(list(permutations(range(count))), int)


def _added(order: tuple[int, ...], first: BitArray, others: BitArray, add: Add, ends: Ways, elements: slice) -> BitArray:
    """The totals [cuts, elements] of pieces that are added in an order."""
    total: BitArray = first[ends[:, order[0]], ends[:, order[0] + 1], elements]
    for piece in order[1:]:
        total = add(total, others[ends[:, piece], ends[:, piece + 1], elements])
    return total
