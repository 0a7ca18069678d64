"""The Pareto front: the points that no other point beats in one quantity without losing in the other."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TypeGuard


def front(pairs: Sequence[tuple[float | None, float | None]]) -> list[int]:
    """The numbers of the pairs that no pair dominates; smaller is better in both.

    A pair dominates another if it is nowhere larger and somewhere smaller. Equal pairs do not dominate each other: all or
    none of them are on the front. A pair with a missing value (None, NaN) is not on it and dominates nothing.
    Values are compared exactly, without a tolerance; infinities are values.

    >>> front([(1, 5), (2, 3), (2, 3), (2, 4), (3, 3), (None, 0)])
    [0, 1, 2]
    """
    known = sorted((x, y, number) for number, (x, y) in enumerate(pairs) if _is_value(x) and _is_value(y))
    found: list[int] = []
    best: float | None = None  # the smallest y of all smaller x
    for _, column in groupby(known, key=lambda entry: entry[0]):
        least, *others = column
        if best is None or least[1] < best:
            found += [number for _, y, number in (least, *others) if y == least[1]]
            best = least[1]
    return sorted(found)


def _is_value(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)
