"""Counts what the compared vectors covered: classes, pairs of classes and bins. Also draws the sample that the reference
engine computes again."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cosim.bench.products import Bits, DotProducts, Element, Rows, Vector
from cosim.coverage.coverage_model import Counts, Model, count, merged
from cosim.coverage.covergroup import CLASSES, NORMAL, ZERO, classes
from cosim.coverage.raised_flags import NO_FLAGS
from golden import Cls, Format
from golden.arithmetic.formats import IntegerFormat
from golden.native.engine import computes
from golden.native.library import library
from golden.operations.exact_sum import ExactSum
from rtl.designs.ports import Echo

INTEGER_CLASSES = ("zero", "", "", "", "nonzero")
"""The classes of codes that are not floating-point numbers, at the places of +0 and +normal."""


STREAK = 6
"""Number of results of one class in a row, which follow the pairs: they test designs that count such results."""


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
        part: number of the vectors' chunk; each chunk counts the classes of another element of the results.
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


BETWEEN = " | "
"""What stands between the names of a pair of choices."""


class PairCounts:
    """Counts of pairs of names, such as classes of expected results, that occur one after the other in the same element of a
    result."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, found: Sequence[str], of_result: int) -> None:
        """Count the names of consecutive results, with `of_result` elements each."""
        line = [*self._before, *found]
        self._counts.update(zip(line, line[of_result:], strict=False))
        self._before = line[-of_result:]

    def as_dict(self, between: str = ", ") -> dict[str, int]:
        """The count of each pair that occurred, by name."""
        return {f"{first}{between}{second}": count for (first, second), count in sorted(self._counts.items())}


SAMPLE = 200
"""Number of rows of a run that the reference engine computes; one for each class if there are more classes."""

RESERVOIR = 64
"""Rows of each class and corner that the sample is chosen from."""


@dataclass
class ReferenceSample:
    """A seeded sample of the rows of a run, spread over its classes and over its length (reservoir sampling).

    Attributes:
        seed: seed of the sample.
    """

    seed: int
    _reservoirs: dict[str, list[Rows]] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.seed, SAMPLE])

    def add(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Offer the given rows of the run to the sample; None for all rows."""
        names = products.classes()
        chosen = np.arange(len(products.label)) if rows is None else np.asarray(rows, dtype=np.int64)
        labels = products.label[chosen]
        for label in np.unique(labels).tolist():
            self._add(names[label], products, chosen[labels == label].tolist())

    def _add(self, name: str, products: Rows, rows: list[int]) -> None:
        """Offer rows of one class: the n-th row of the class enters its reservoir with probability RESERVOIR/n."""
        seen, reservoir = self._seen.get(name, 0), self._reservoirs.setdefault(name, [])
        drawn = self._rng.integers(0, np.arange(seen + 1, seen + 1 + len(rows))).tolist()
        chosen: dict[int, int] = {}  # place to the last row that took it: the others need no copy
        for number, (any_place, row) in enumerate(zip(drawn, rows, strict=True), seen):
            place = number if number < RESERVOIR else any_place
            if place < RESERVOIR:
                chosen[place] = row
        for place in sorted(chosen):
            reservoir[place : place + 1] = [products.alone(chosen[place])]
        self._seen[name] = seen + len(rows)

    def rows(self) -> list[Rows]:
        """The sample, as `Rows` of one row each, taken from the classes in turn."""
        turns = max(map(len, self._reservoirs.values()), default=0)
        ordered = [rows[turn] for turn in range(turns) for rows in self._reservoirs.values() if turn < len(rows)]
        return ordered[: max(SAMPLE, len(self._reservoirs))]

    def disagreements(self) -> list[str]:
        """A description of every row of the sample for which the reference engine computes other bits than expected."""
        return [text for rows in self.rows() for text in [disagreement(rows)] if text is not None]


def disagreement(rows: Rows) -> str | None:
    """Compute the only row of `rows` with the reference engine. Returns a description where its bits differ from the
    expected ones, else None."""
    code = rows.recomputed(0)
    if code == rows.expected[0]:
        return None
    d = rows.result
    lines = [f"a row of {rows.made_by(0)}", *rows.described(0, code)[:-2]]
    return "\n".join([*lines, f"  reference {d.describe(code)}", f"  expected  {d.describe(rows.expected[0])}"])


def flags_of(echo: Echo, code: int) -> str:
    """The names of the exception flags that are raised in a code of an output."""
    return " ".join(name for bit, name in enumerate(echo.flags) if code >> bit & 1) or NO_FLAGS


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
        self._pairs, self._choices = PairCounts(), PairCounts()
        self._of_result = 1
        self._raised: Counter[tuple[str, str, str]] = Counter()
        self._has_flags = False
        self._uncounted: list[Element] = []
        self._differing: list[Element] = []
        self._counts: tuple[Counts, ...] = ()
        self.golden_seconds = 0.0

    def expect(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Note the classes and corners of the given rows, which will be sent; None for all rows."""
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

    def count_flags(self, vector: Vector, echoes: Sequence[Echo]) -> None:
        """Count the exception flags that a result must have, by the class of its first element's operands."""
        for echo in echoes:
            if echo.flags:
                self._has_flags = True
                code, (products, row, _) = vector.transfers[-1][echo.port], vector.elements[0]
                self._raised[echo.name, flags_of(echo, code), products.made_by(row)] += 1

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
        choices = [element.products.name for element in self._uncounted[:: self._of_result]]
        if any(choices):
            self._choices.count(choices, 1)
        self._uncounted.clear()
        self._differing.clear()

    def _look(self, products: DotProducts, rows: Sequence[int]) -> None:
        """Count the bins of rows that agreed."""
        operation = products.covered or products.operation
        if self._has_flags and isinstance(operation, ExactSum):
            operation = replace(operation, flags=True)
        model = Model(operation, products.stimulus.operands.a.shape[1])
        if not rows or not computes(model.operation):
            return
        started = time.perf_counter()
        self._counts = merged([*self._counts, count(model, products.operands_of(np.array(rows)))])
        self.golden_seconds += time.perf_counter() - started

    def counts(self) -> tuple[Counts, ...]:
        """The bins hit by golden's dot products that agreed, by model; empty where the native engine records no steps."""
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

    def choice_pairs(self) -> dict[str, int]:
        """Counts of the pairs of names of dot products, where they have any, that occurred one after the other."""
        self._count_all()
        return self._choices.as_dict(BETWEEN)

    def raised(self) -> dict[str, int]:
        """Counts of the exception flags of compared results, by the output, the flags, and the class of the operands."""
        return {BETWEEN.join(key): count for key, count in sorted(self._raised.items())}

    def result_pairs(self) -> dict[str, int]:
        """Counts of the pairs of classes of expected results that occurred one after the other."""
        self._count_all()
        return self._pairs.as_dict()


def _classes_of_results(products: Rows, rows: Sequence[int]) -> dict[Cls, int]:
    """The number of expected results of each class."""
    result, expected = products.result, [products.expected[row] for row in rows]
    if isinstance(result, Format) and not isinstance(result, IntegerFormat):
        found = np.bincount(classes(result, np.array(expected, np.uint64)) // 2, minlength=len(Cls)).tolist()
        return {cls: int(number) for cls, number in zip(Cls, found, strict=True)}
    return Counter(result.decode(code).cls for code in expected)
