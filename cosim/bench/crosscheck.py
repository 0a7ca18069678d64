"""The golden models' own check: a sample of every run is computed by the reference engine too."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cosim.bench.rows import Rows

SAMPLE = 200
"""Rows of a run that the reference computes; more only where there are more classes, one of each."""

RESERVOIR = 64
"""Rows of each class and corner that are kept to choose from."""


@dataclass
class ReferenceSample:
    """A seeded sample of the rows of a run, spread over its classes and over its length (reservoir sampling).

    Attributes:
        seed: of the sample.
    """

    seed: int
    _kept: dict[str, list[Rows]] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.seed, SAMPLE])

    def add(self, products: Rows, rows: Sequence[int] | None = None) -> None:
        """Rows of the run, each of which may enter the sample; None for all."""
        names = products.classes()
        chosen = np.arange(len(products.label)) if rows is None else np.asarray(rows, dtype=np.int64)
        labels = products.label[chosen]
        for label in np.unique(labels).tolist():
            self._add(names[label], products, chosen[labels == label].tolist())

    def _add(self, name: str, products: Rows, rows: list[int]) -> None:
        """Rows of one class: the n-th that was ever seen is kept with odds of RESERVOIR/n."""
        seen, kept = self._seen.get(name, 0), self._kept.setdefault(name, [])
        drawn = self._rng.integers(0, np.arange(seen + 1, seen + 1 + len(rows))).tolist()
        chosen: dict[int, int] = {}  # place to the last row that took it: the others need no copy
        for number, (any_place, row) in enumerate(zip(drawn, rows, strict=True), seen):
            place = number if number < RESERVOIR else any_place
            if place < RESERVOIR:
                chosen[place] = row
        for place in sorted(chosen):
            kept[place : place + 1] = [products.alone(chosen[place])]
        self._seen[name] = seen + len(rows)

    def rows(self) -> list[Rows]:
        """The sample, one row each; the classes take turns."""
        turns = max(map(len, self._kept.values()), default=0)
        ordered = [kept[turn] for turn in range(turns) for kept in self._kept.values() if turn < len(kept)]
        return ordered[: max(SAMPLE, len(self._kept))]

    def disagreements(self) -> list[str]:
        """Every row of the sample for which the reference engine has other bits than are expected, in words."""
        return [text for rows in self.rows() for text in [disagreement(rows)] if text is not None]


def disagreement(rows: Rows) -> str | None:
    """That the reference engine has other bits for the only one of the rows than are expected, in words; None where it has
    the same."""
    code = rows.recomputed(0)
    if code == rows.expected[0]:
        return None
    d = rows.result
    lines = [f"a row of {rows.made_by(0)}", *rows.described(0, code)[:-2]]
    return "\n".join([*lines, f"  reference {d.describe(code)}", f"  expected  {d.describe(rows.expected[0])}"])
