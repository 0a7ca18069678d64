"""Coverage of a run: compared elements by class and corner of the stimulus and by class of result, and the coverage-model
bins (cosim.coverage) of golden's dot products that agreed."""

import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cosim.bench.products import DotProducts, Element
from cosim.bench.result_pairs import PairCounts, result_classes
from cosim.bench.specified_rows import Rows
from cosim.coverage.counts import Counts, Model, merged
from cosim.coverage.coverage_model import count
from cosim.coverage.sampled_facts import classes
from golden import Cls, Format
from golden.integer_format import IntegerFormat
from golden.native.library import library

TOGETHER = 4096
"""Elements that are counted at a time; their rows stay in memory until then."""


class Coverage:
    """Counts of compared elements.

    Attributes:
        golden_seconds: time spent on the steps of golden's models (s).
    """

    def __init__(self) -> None:
        self._made: dict[str, set[str]] = {}
        self._order: dict[str, list[str]] = {}
        self._compared: Counter[str] = Counter()
        self._result_classes: Counter[Cls] = Counter()
        self._pairs = PairCounts()
        self._of_result = 1
        self._uncounted: list[Element] = []
        self._differing: list[Element] = []
        self._counts: tuple[Counts, ...] = ()
        self.golden_seconds = 0.0

    def expect(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Note the classes and corners of rows that will be sent; None for all rows."""
        names = products.classes()
        self._order[products.name] = names
        made = self._made.setdefault(products.name, set())
        labels = products.label if rows is None else products.label[list(rows)]
        made |= {names[label] for label in set(labels.tolist())}

    def count(self, elements: Sequence[Element], differing: Sequence[Element] = ()) -> None:
        """Count the elements of a compared result; those that differ count for no bin of the coverage model."""
        self._uncounted.extend(elements)
        self._of_result = len(elements)
        if differing:
            self._differing.extend(differing)
        if len(self._uncounted) >= TOGETHER:
            self._count_all()

    def _count_all(self) -> None:
        """Count the collected elements, all rows of a stimulus at once: row by row would take as long as sending them."""
        of: dict[int, tuple[Rows, list[int]]] = {}
        for element in self._uncounted:
            of.setdefault(id(element.products), (element.products, []))[1].append(element.row)
        differing = {(id(element.products), element.row) for element in self._differing}
        for products, rows in of.values():
            names = products.classes()
            for label, compared in zip(*np.unique(products.label[rows], return_counts=True), strict=True):
                self._compared[names[label]] += int(compared)
            self._result_classes.update(_classes_of_results(products, rows))
            if isinstance(products, DotProducts) and products.has_model and library() is not None:
                self._look(products, [row for row in rows if (id(products), row) not in differing])
        classes_of = {id(products): result_classes(products) for products, _ in of.values()}
        found = [classes_of[id(element.products)][element.row] for element in self._uncounted]
        self._pairs.count(found, self._of_result)
        self._uncounted.clear()
        self._differing.clear()

    def _look(self, products: DotProducts, rows: Sequence[int]) -> None:
        """Count the bins of rows that agreed."""
        if not rows:
            return
        started = time.perf_counter()
        model = Model(products.operation, products.stimulus.operands.a.shape[1])
        self._counts = merged([*self._counts, count(model, products.operands_of(np.array(rows)))])
        self.golden_seconds += time.perf_counter() - started

    def counts(self) -> tuple[Counts, ...]:
        """The bins hit by golden's dot products that agreed, by model; empty without the native engine."""
        self._count_all()
        return self._counts

    def classes(self) -> dict[str, int]:
        """Compared elements of each class and corner with rows in the run, by dot-product name, in stimulus order."""
        self._count_all()
        return {
            name: self._compared[name]
            for of, names in sorted(self._order.items())
            for name in names
            if name in self._made[of]
        }

    def result_classes(self) -> dict[str, int]:
        """Compared elements by class of the expected result."""
        self._count_all()
        return {cls.name.lower(): self._result_classes[cls] for cls in Cls}

    def result_pairs(self) -> dict[str, int]:
        """Pairs of classes of expected results, one after the other, that occurred."""
        self._count_all()
        return self._pairs.as_dict()


def _classes_of_results(products: Rows, rows: Sequence[int]) -> dict[Cls, int]:
    """The number of expected results of each class."""
    result, expected = products.result, [products.expected[row] for row in rows]
    if isinstance(result, Format) and not isinstance(result, IntegerFormat):
        found = np.bincount(classes(result, np.array(expected, np.uint64)) // 2, minlength=len(Cls)).tolist()
        return {cls: int(number) for cls, number in zip(Cls, found, strict=True)}
    return Counter(result.decode(code).cls for code in expected)
