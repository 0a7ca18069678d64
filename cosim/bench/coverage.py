"""Coverage: how often each class and corner of the stimulus, and each class of result, has been compared."""

from collections import Counter
from collections.abc import Sequence

from cosim.bench.products import Element
from cosim.bench.rows import Rows
from golden import Cls


class Coverage:
    """Counts of compared elements."""

    def __init__(self) -> None:
        self._made: dict[str, set[str]] = {}
        self._order: dict[str, list[str]] = {}
        self._compared: Counter[str] = Counter()
        self._result_classes: Counter[Cls] = Counter()

    def expect(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Take note of the classes and corners that made any of these rows, which are going to be sent; None for all."""
        names = products.classes()
        self._order[products.name] = names
        made = self._made.setdefault(products.name, set())
        labels = products.label if rows is None else products.label[list(rows)]
        made |= {names[label] for label in set(labels.tolist())}

    def count(self, elements: Sequence[Element]) -> None:
        """The elements of a result that has been compared."""
        for element in elements:
            products = element.products
            self._compared[products.made_by(element.row)] += 1
            self._result_classes[products.result.decode(products.expected[element.row]).cls] += 1

    def classes(self) -> dict[str, int]:
        """Compared elements of each class and corner that made any, by name of the dot products, in stimulus order."""
        return {
            name: self._compared[name]
            for of, names in sorted(self._order.items())
            for name in names
            if name in self._made[of]
        }

    def result_classes(self) -> dict[str, int]:
        """Compared elements that should be of each class."""
        return {cls.name.lower(): self._result_classes[cls] for cls in Cls}
