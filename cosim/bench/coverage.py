"""Coverage: how often each class and corner of the stimulus, and each class of result, has been compared."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cosim.bench.products import Element
from cosim.bench.rows import Rows
from golden import Cls

TOGETHER = 4096
"""Elements that are counted at a time; their rows stay in memory until then."""


class Coverage:
    """Counts of compared elements."""

    def __init__(self) -> None:
        self._made: dict[str, set[str]] = {}
        self._order: dict[str, list[str]] = {}
        self._compared: Counter[str] = Counter()
        self._result_classes: Counter[Cls] = Counter()
        self._uncounted: list[Element] = []

    def expect(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Take note of the classes and corners that made any of these rows, which are going to be sent; None for all."""
        names = products.classes()
        self._order[products.name] = names
        made = self._made.setdefault(products.name, set())
        labels = products.label if rows is None else products.label[list(rows)]
        made |= {names[label] for label in set(labels.tolist())}

    def count(self, elements: Sequence[Element]) -> None:
        """The elements of a result that has been compared."""
        self._uncounted.extend(elements)
        if len(self._uncounted) >= TOGETHER:
            self._count_all()

    def _count_all(self) -> None:
        """Count what has come together: the rows of a stimulus at once, for one by one takes as long as to send them."""
        of: dict[int, tuple[Rows, list[int]]] = {}
        for element in self._uncounted:
            of.setdefault(id(element.products), (element.products, []))[1].append(element.row)
        self._uncounted.clear()
        for products, rows in of.values():
            names = products.classes()
            for label, count in zip(*np.unique(products.label[rows], return_counts=True), strict=True):
                self._compared[names[label]] += int(count)
            decode, expected = products.result.decode, products.expected
            self._result_classes.update(decode(expected[row]).cls for row in rows)

    def classes(self) -> dict[str, int]:
        """Compared elements of each class and corner that made any, by name of the dot products, in stimulus order."""
        self._count_all()
        return {
            name: self._compared[name]
            for of, names in sorted(self._order.items())
            for name in names
            if name in self._made[of]
        }

    def result_classes(self) -> dict[str, int]:
        """Compared elements that should be of each class."""
        self._count_all()
        return {cls.name.lower(): self._result_classes[cls] for cls in Cls}
