"""The order in which the sums of stripes or parts of K are added: a nested list of their numbers, or the name of a tree."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

Order = int | tuple["Order", ...]
"""The number of a sum, or orders whose totals are added from the left."""

TREES = ("butterfly", "pairs")
"""Named trees of a power of two of sums. `butterfly`: halves are added first, sum i and sum i + n/2, as the lanes of a warp
do that shuffle down; `pairs`: neighbours first, sums 0 and 1."""

MOST = 1 << 12
"""Largest number of sums that an order lists."""

Total = TypeVar("Total")


def checked_sum_order(key: str, value: Any, count: int) -> str | tuple[Order, ...]:
    """The order of `count` sums, lists as tuples.

    Raises:
        ValueError: no list or name, or a sum that is missing or stands twice.
    """
    if isinstance(value, str):
        if value not in TREES:
            raise ValueError(f"{key} must be a list, {' or '.join(map(repr, TREES))}; got {value!r}")
        if count & (count - 1) or count > MOST:
            raise ValueError(f"{key} = {value!r} adds a power of two of sums, at most {MOST}; got {count}")
        return value
    made = _as_tuples(key, value)
    if isinstance(made, int) or sorted(_leaves(made)) != list(range(count)):
        raise ValueError(
            f"{key} must have each of the numbers 0 to {count - 1} once, in a list that may be nested; got {value!r:.80}"
        )
    return made


def is_flat(order: str | tuple[Order, ...]) -> bool:
    """Whether sums are added one after the other, without totals of their own in between."""
    return not isinstance(order, str) and all(isinstance(one, int) for one in order)


@lru_cache(1 << 12)
def order_of(order: str | tuple[Order, ...] | None, count: int, present: int) -> Order:
    """The order of the first `present` of `count` sums; None is ascending."""
    if order is None:
        return tuple(range(present))
    whole = tree(order, count) if isinstance(order, str) else order
    left = _without(whole, present)
    assert left is not None
    return left


def tree(name: str, count: int) -> Order:
    """The order that a name of `TREES` stands for."""
    return _halves(0, 1, count) if name == "butterfly" else _neighbours(0, count)


def folded(order: Order, sum_of: Callable[[int], Total], add: Callable[[Total, Total], Total]) -> Total:
    """Add sums in an order, each computed when its turn comes."""
    if isinstance(order, int):
        return sum_of(order)
    total = folded(order[0], sum_of, add)
    for other in order[1:]:
        total = add(total, folded(other, sum_of, add))
    return total


def _as_tuples(key: str, value: Any) -> Order:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(
            f"{key} must be a list of numbers, which may be nested, or {' or '.join(map(repr, TREES))}; got {value!r:.80}"
        )
    return tuple(_as_tuples(key, one) for one in value)


def _leaves(order: Order) -> list[int]:
    return [order] if isinstance(order, int) else [leaf for one in order for leaf in _leaves(one)]


def _without(order: Order, present: int) -> Order | None:
    """The order without the sums from `present` on, which do not exist."""
    if isinstance(order, int):
        return order if order < present else None
    left = tuple(one for one in (_without(each, present) for each in order) if one is not None)
    return left if len(left) > 1 else left[0] if left else None


def _halves(first: int, step: int, count: int) -> Order:
    return first if step == count else (_halves(first, 2 * step, count), _halves(first + step, 2 * step, count))


def _neighbours(first: int, count: int) -> Order:
    half = count // 2
    return first if count == 1 else (_neighbours(first, half), _neighbours(first + half, half))
