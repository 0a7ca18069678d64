"""Orders of a few sums that give known totals, where very many orders are possible: all are computed at once, for one
element at first, and those that give it for more."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import combinations, pairwise, permutations
from math import comb

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.products.gemm_order import Pieces
from golden.products.sum_order import Order, folded, is_flat

Add = Callable[[BitArray, BitArray], BitArray]
"""Adds codes of fp32 or fp64, in any shape."""

Rounded = Callable[[BitArray, slice], BitArray]
"""Rounds the totals of some elements to the format of the result."""

Ways = npt.NDArray[np.int_]
"""Ways to add sums, one in each row."""

FEWER_FIRST = (slice(0, 1), slice(1, 4), slice(4, None))
"""The elements that are computed of all ways, then of those that give these, and so on."""

FEW = 4
"""Elements of which all trees are computed at first."""

MOST_PIECES = 4
"""Largest number of pieces of a tile that is tried."""

MOST_CUTS = 50_000
"""Ways to cut K that are tried at a time; more pieces are left out."""


def orders_giving(
    totals: BitArray, first: BitArray, others: BitArray, add: Add, rounded: Rounded, trees: bool = True
) -> Iterator[tuple[Order, ...]]:
    """The orders of the additions of sums that give the totals; those without totals in between come first.

    Args:
        totals: [elements], the results. first, others: [sums, elements], each sum where it comes first, and elsewhere. Where
            these are equal, two orders that differ in which of two numbers is added to which are one.
        trees: whether there may be totals in between.
    """
    count, few = len(first), slice(0, FEW)
    pairs, ends = _every_tree(count, not np.array_equal(first, others), trees)
    made = np.empty((2 * count + len(pairs), len(totals[few])), first.dtype)
    made[:count], made[count : 2 * count] = others[:, few], first[:, few]
    for begin, end in pairwise(ends):
        made[2 * count + begin : 2 * count + end] = add(made[pairs[begin:end, 0]], made[pairs[begin:end, 1]])
    whole = 2 * count + ends[-2]
    right = whole + np.flatnonzero((rounded(made[whole:], few) == totals[few]).all(axis=1))
    found = [_nested(pairs, count, number) for number in right.tolist()]
    for order in sorted(found, key=is_flat, reverse=True):
        total = _from_first(order, first, others, add)
        if (rounded(total, slice(None)) == totals).all():
            yield order


@lru_cache
def _every_tree(count: int, has_start: bool, trees: bool) -> tuple[Ways, tuple[int, ...]]:
    """Every way to add sums two at a time: the pairs of what is added, by number, those of two sums first, then of three …,
    and where each of these begins and the last ends.

    Numbers 0 … count − 1 are the sums, then come the sums where they come first, then the pairs. Without a start the order
    of a pair does not count; where there is one, all pairs of the whole have it. Without trees the second
    of a pair is a sum.
    """
    of = {(1 << at, start): range(at + start * count, at + start * count + 1) for at in range(count) for start in (0, 1)}
    pairs: list[Ways] = []
    reached = 2 * count
    ends = [0]
    for size in range(2, count + 1):
        for chosen in combinations(range(count), size):
            whole = sum(1 << at for at in chosen)
            for start in range(has_start and size == count, has_start + 1):
                begin = reached
                for left in (part for part in range(1, whole) if part & whole == part):
                    right = whole ^ left
                    is_sum, has_lowest = not right & right - 1, left & whole & -whole
                    if (start or has_lowest or (not trees and size > 2)) and (trees or is_sum):
                        grid = np.meshgrid(of[left, start], of[right, 0], indexing="ij")
                        pairs.append(np.stack(grid, axis=2).reshape(-1, 2))
                        reached += len(pairs[-1])
                of[whole, start] = range(begin, reached)
        ends.append(reached - 2 * count)
    return np.concatenate(pairs), tuple(ends)


def _nested(pairs: Ways, count: int, number: int) -> tuple[Order, ...]:
    """The tree of a number as an order, in which totals stand on the left of single sums where that changes nothing."""

    def order(number: int) -> Order:
        if number < 2 * count:
            return number % count
        left, right = map(order, pairs[number - 2 * count].tolist())
        if isinstance(left, int) and not isinstance(right, int) and not starts(number):
            left, right = right, left
        return (*left, right) if isinstance(left, tuple) else (left, right)

    def starts(number: int) -> bool:
        while number >= 2 * count:
            number = int(pairs[number - 2 * count, 0])
        return number >= count

    made = order(number)
    assert isinstance(made, tuple)
    return made


def _from_first(order: tuple[Order, ...], first: BitArray, others: BitArray, add: Add) -> BitArray:
    """The totals of an order whose first sum is that where it comes first."""
    leftmost: Order = order
    while isinstance(leftmost, tuple):
        leftmost = leftmost[0]
    return folded(order, lambda at: first[at] if at == leftmost else others[at], add)


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


def _added(order: tuple[int, ...], first: BitArray, others: BitArray, add: Add, ends: Ways, elements: slice) -> BitArray:
    """The totals [cuts, elements] of pieces that are added in an order."""
    total: BitArray = first[ends[:, order[0]], ends[:, order[0] + 1], elements]
    for piece in order[1:]:
        total = add(total, others[ends[:, piece], ends[:, piece + 1], elements])
    return total
