"""The cross-check of golden's engines: the reference engine computes a sample of every run once more."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cosim.bench.specified_rows import Rows

SAMPLE = 200
"""Rows of a run that the reference engine computes; more only where there are more classes: then one of each."""

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
        """Offer rows of the run to the sample; None for all rows."""
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
    """Compute the only row with the reference engine; return a description where its bits differ from those expected, or
    None."""
    code = rows.recomputed(0)
    if code == rows.expected[0]:
        return None
    d = rows.result
    lines = [f"a row of {rows.made_by(0)}", *rows.described(0, code)[:-2]]
    return "\n".join([*lines, f"  reference {d.describe(code)}", f"  expected  {d.describe(rows.expected[0])}"])
