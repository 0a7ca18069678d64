"""Covergroups: properties of samples that are crossed, with a bin for each combination of their values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from cosim.coverage.sampled_facts import IntArray, Seen

Reason = str | None
"""Why a bin cannot be hit; None where it can."""


@dataclass(frozen=True)
class Point:
    """A property of each sample, which has one of several values.

    Attributes:
        name: the property, in words. values: its possible values, in the order of their indices.
    """

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Covergroup:
    """A cross of points: a bin for each combination of their values.

    Attributes:
        name: the name of the group, unique in its model.
        points: the points that are crossed.
        sample: for each point an array of indices into its values, −1 where a sample has none; their shapes are broadcast
            against each other.
        unreachable: function of one value of each point that returns why no operands can give them together.
    """

    name: str
    points: tuple[Point, ...]
    sample: Callable[[Seen], Sequence[IntArray]]
    unreachable: Callable[..., Reason]

    @cached_property
    def combinations(self) -> list[tuple[str, ...]]:
        """The values of every bin."""
        return list(product(*(point.values for point in self.points)))

    @cached_property
    def bins(self) -> list[str]:
        """The names of the bins."""
        return [", ".join(values) for values in self.combinations]

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why each bin cannot be hit, None where it can."""
        return [self.unreachable(*values) for values in self.combinations]

    def count(self, seen: Seen) -> IntArray:
        """How many samples fall into each bin."""
        indices = np.broadcast_arrays(*self.sample(seen))
        flat = np.zeros(indices[0].shape, np.int64)
        inside = np.ones(indices[0].shape, np.bool_)
        for index, point in zip(indices, self.points, strict=True):
            flat = flat * len(point.values) + index
            inside &= index >= 0
        return np.bincount(flat[inside], minlength=len(self.bins))


def reachable(*_: str) -> Reason:
    """The reason of a group whose bins can all be hit: always None."""
    return None


def chosen(*conditions: Any) -> IntArray:
    """The number of the first condition that holds, −1 where none does."""
    return np.select(conditions, list(range(len(conditions))), -1)
