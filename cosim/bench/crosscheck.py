"""The golden models' own check: a sample of every run is computed by the reference engine too."""

from dataclasses import dataclass, field, replace

import numpy as np

from cosim.bench.products import DotProducts
from golden.stimulus import Operands

SAMPLE = 200
"""Rows of a run that the reference computes; more only where there are more classes, one of each."""

HELD = 64
"""Rows of each class and corner that are held to choose from."""


@dataclass
class ReferenceSample:
    """A seeded sample of the rows of a run, spread over its classes and over its length (reservoir sampling).

    Attributes:
        seed: of the sample.
    """

    seed: int
    _held: dict[str, list[DotProducts]] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.seed, SAMPLE])

    def add(self, products: DotProducts) -> None:
        """Rows of the run, each of which may enter the sample."""
        names = products.classes()
        for label in np.unique(products.stimulus.label).tolist():
            self._add(names[label], products, np.flatnonzero(products.stimulus.label == label).tolist())

    def _add(self, name: str, products: DotProducts, rows: list[int]) -> None:
        """Rows of one class: the n-th that was ever seen is held with odds of HELD/n."""
        seen, held = self._seen.get(name, 0), self._held.setdefault(name, [])
        drawn = self._rng.integers(0, np.arange(seen + 1, seen + 1 + len(rows))).tolist()
        for place, row in zip(drawn, rows, strict=True):
            if len(held) < HELD:
                held.append(one_row(products, row))
            elif place < HELD:
                held[place] = one_row(products, row)
        self._seen[name] = seen + len(rows)

    def rows(self) -> list[DotProducts]:
        """The sample, one row each; the classes take turns."""
        turns = max(map(len, self._held.values()), default=0)
        ordered = [held[turn] for turn in range(turns) for held in self._held.values() if turn < len(held)]
        return ordered[: max(SAMPLE, len(self._held))]

    def disagreements(self) -> list[str]:
        """Every row of the sample for which the reference engine has other bits than are expected, in words."""
        found = []
        for products in self.rows():
            code = int(products.dot(*products.stimulus.operands, engine="reference")[0])
            if code != products.expected[0]:
                d = products.operation.d
                lines = [f"a row of {products.made_by(0)}", *products.described(0, code)[:-2]]
                found.append(
                    "\n".join([*lines, f"  reference {d.describe(code)}", f"  expected  {d.describe(products.expected[0])}"])
                )
        return found


def one_row(products: DotProducts, row: int) -> DotProducts:
    """One of the rows by itself; the others need not stay in memory for it."""
    stimulus = products.stimulus.rows(slice(row, row + 1))
    operands = Operands(*(None if array is None else array.copy() for array in stimulus.operands))  # type: ignore[arg-type]
    alone = replace(stimulus, operands=operands, label=stimulus.label.copy())
    return replace(products, stimulus=alone, expected=[products.expected[row]])
