"""Coverage: what has been compared, by class and corner of the stimulus and by class of result; and of golden's dot products
that agreed the bins of their model (cosim.coverage)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cosim.bench.products import DotProducts, Element
from cosim.bench.rows import Rows
from cosim.coverage.counts import Counts, Model, merged
from cosim.coverage.model import count
from golden import Cls
from golden.native.library import library

TOGETHER = 4096
"""Elements that are counted, and looked at, at a time; their rows stay in memory until then."""


class Coverage:
    """Counts of compared elements."""

    def __init__(self) -> None:
        self._made: dict[str, set[str]] = {}
        self._order: dict[str, list[str]] = {}
        self._compared: Counter[str] = Counter()
        self._result_classes: Counter[Cls] = Counter()
        self._uncounted: list[Element] = []
        self._agreed: dict[int, tuple[DotProducts, list[int]]] = {}
        self._held = 0
        self._counts: tuple[Counts, ...] = ()

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
            for label, compared in zip(*np.unique(products.label[rows], return_counts=True), strict=True):
                self._compared[names[label]] += int(compared)
            decode, expected = products.result.decode, products.expected
            self._result_classes.update(decode(expected[row]).cls for row in rows)

    def agrees(self, element: Element) -> None:
        """An element has been compared and agrees: the steps behind it count."""
        products = element.products
        if not isinstance(products, DotProducts) or not products.has_model:
            return
        self._agreed.setdefault(id(products), (products, []))[1].append(element.row)
        self._held += 1
        if self._held >= TOGETHER:
            self._look()

    def counts(self) -> tuple[Counts, ...]:
        """The bins of golden's dot products that agreed, by model; none without the native engine."""
        self._look()
        return self._counts

    def _look(self) -> None:
        """Count what is held."""
        if library() is not None:
            new = [
                count(Model(products.operation, products.stimulus.operands.a.shape[1]), products.operands_of(np.array(rows)))
                for products, rows in self._agreed.values()
            ]
            self._counts = merged([*self._counts, *new])
        self._agreed, self._held = {}, 0

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
