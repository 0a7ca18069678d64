"""Pairs of classes of results back to back: a stream has each pair that its results allow, and a run counts them.

A design that keeps something of a result, a flag or a sign, may be wrong in the next one: +infinity, then -infinity.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from cosim.bench.products import Vector
from cosim.bench.specified_rows import Bits, Rows
from cosim.coverage.sampled_facts import CLASSES, NORMAL, ZERO, classes
from golden import Cls, Format
from golden.integer_format import IntegerFormat

INTEGER_CLASSES = ("zero", "", "", "", "nonzero")
"""The classes of codes that are not floating-point numbers, at the places of +0 and +normal."""


STREAK = 6
"""Results of one class in a row, after the pairs: for what counts them."""


def result_classes(products: Rows) -> list[str]:
    """The class of each expected result, with its sign."""
    result = products.result
    names = class_names(result)
    if names is CLASSES and isinstance(result, Format):
        return [names[n] for n in classes(result, np.array(products.expected, np.uint64)).tolist()]
    return [names[ZERO if result.decode(code).cls is Cls.ZERO else NORMAL] for code in products.expected]


def class_names(result: Format | Bits) -> Sequence[str]:
    """The names of the classes of results, by number."""
    is_float = isinstance(result, Format) and not isinstance(result, IntegerFormat)
    return CLASSES if is_float else INTEGER_CLASSES


def pairs_by_name(counts: Sequence[int], result: Format | Bits) -> dict[str, int]:
    """The count of each pair that occurred, by name.

    Args:
        counts: the numbers of each pair [first · second], for all classes of floating-point numbers.
    """
    names = class_names(result)
    pairs = ((*divmod(place, len(CLASSES)), count) for place, count in enumerate(counts))
    return {f"{names[first]}, {names[second]}": count for first, second, count in pairs if count}


def with_pairs(blocks: Sequence[Sequence[Vector]], part: int, rng: random.Random) -> list[Vector]:
    """The vectors in an order that begins with as many pairs of classes as they allow, then with a few results of each class
    in a row; the others keep their order.

    Args:
        blocks: the vectors; only those that are alone in their block change their places.
        part: the number of the vectors' chunk; the classes of another element of the results count for each.
    """
    known: dict[int, list[str]] = {}
    pools: dict[str, list[int]] = defaultdict(list)
    for place, block in enumerate(blocks):
        if len(block) > 1:
            continue
        elements = block[0].elements
        products, row, _ = elements[part % len(elements)]
        if id(products) not in known:
            known[id(products)] = result_classes(products)
        pools[known[id(products)][row]].append(place)
    for pool in pools.values():
        rng.shuffle(pool)
    walk = [*_walk(pools, rng), *(place for pool in pools.values() for place in pool[:STREAK])]
    moved = set(walk)
    later = [vector for place, block in enumerate(blocks) if place not in moved for vector in block]
    return [blocks[place][0] for place in walk] + later


def _walk(pools: dict[str, list[int]], rng: random.Random) -> list[int]:
    """Places taken from the pools so that each class follows each class, as far as the pools reach."""
    missing = {first: [*pools] for first in pools}
    for classes_after in missing.values():
        rng.shuffle(classes_after)
    walk: list[int] = []
    at: str | None = None
    while True:
        if at is None or not any(pools[each] for each in missing[at]):
            starts = [first for first in pools if pools[first] and any(len(pools[e]) > (e == first) for e in missing[first])]
            if not starts:
                return walk
            at = rng.choice(starts)
        else:
            after = next(each for each in missing[at] if pools[each])
            missing[at].remove(after)
            at = after
        walk.append(pools[at].pop())


class PairCounts:
    """Counts of pairs of classes of expected results, one after the other in the same element of a result."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, found: Sequence[str], of_result: int) -> None:
        """Count the classes of consecutive results, with `of_result` elements each."""
        line = [*self._before, *found]
        self._counts.update(zip(line, line[of_result:], strict=False))
        self._before = line[-of_result:]

    def as_dict(self) -> dict[str, int]:
        """The count of each pair that occurred, by name."""
        return {f"{first}, {second}": count for (first, second), count in sorted(self._counts.items())}
