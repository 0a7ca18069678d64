"""From a recording alone, where nothing more can be asked: which arithmetics are consistent with its rows, what these leave
open, and which rows would settle it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arrays import BitArray
from golden.stimulus import Operands, OperandShape
from probe.evidence import Evidence
from probe.features.feature import concatenated
from probe.model import PAIRED, Model, possible_families, toml_of
from probe.rivals import Rival, consistent, pool_of, telling_rows
from probe.search import Search


@dataclass(frozen=True)
class Consistent:
    """A model that reproduces every row.

    Attributes:
        model: the model.
        open: others beside it that do so too, and that some input would tell from it.
        alike: others for which no such input was found.
        settling: inputs that tell `open` from it.
    """

    model: Model
    open: list[Rival]
    alike: list[Rival]
    settling: Operands


@dataclass(frozen=True)
class Reading:
    """What the rows of a recording say.

    Attributes:
        shape: of its operands. rows: how many there are.
        consistent: a model of each operation that reproduces all rows; none where `best` misses some.
        best: the model that misses the fewest. missed: how many.
    """

    shape: OperandShape
    rows: int
    consistent: list[Consistent]
    best: Model
    missed: int

    def settling(self) -> Operands | None:
        """The rows that would settle what is open; None where nothing is, or where nothing explains the recording."""
        parts = [found.settling for found in self.consistent if len(found.settling.c)]
        if len(self.consistent) > 1:
            parts.append(self._between())
        joined = concatenated(parts) if parts else None
        return joined if joined is not None and len(joined.c) else None

    def _between(self) -> Operands:
        """Rows that tell the consistent models of different operations from each other."""
        pool = pool_of(self.shape, 0)
        first, *others = (found.model for found in self.consistent)
        rows, _ = telling_rows(first, [Rival((("operation", other.family),), other) for other in others], pool)
        return pool.rows(rows)


def read_rows(shape: OperandShape, operands: Operands, d: BitArray, seed: int = 0) -> Reading:
    """Every operation that the formats allow, held against the rows.

    Args:
        operands, d: of the recording, at least one row.
        seed: of the search, and of the rows among which telling ones are looked for.

    Raises:
        ValueError: no rows, or no operation takes these formats.
    """
    if not len(d):
        raise ValueError("a recording must have rows, got none")
    families = possible_families(shape)
    if not families:
        raise ValueError("no operation takes operands and gives results of these formats")
    evidence = Evidence(operands, d, "recording")
    models = [Search(evidence, seed, family).run(shape) for family in families]
    missed = [len(evidence.failing(model)) for model in models]
    pool = pool_of(shape, seed)
    found = []
    for model, failing in zip(models, missed, strict=True):
        if not failing:
            rivals = [rival for rival in consistent(model, evidence) if rival.keys[0][0] != "operation"]
            rows, alike = telling_rows(model, rivals, pool)
            found.append(Consistent(model, [rival for rival in rivals if rival not in alike], alike, pool.rows(rows)))
    best = int(np.argmin(missed))
    return Reading(shape, len(d), found, models[best], missed[best])


def text_of(reading: Reading) -> str:
    """The report."""
    return "\n".join(_lines(reading)) + "\n"


def _lines(reading: Reading) -> Iterator[str]:
    yield f"rows        {reading.rows}"
    if not reading.consistent:
        yield f"explained   by no operation; the best model misses {reading.missed}: {reading.best}"
        return
    for found in reading.consistent:
        yield f"consistent  {found.model}"
        yield from (f"            open: {_keys(rival)}" for rival in found.open)
        yield from (f"            the same results: {_keys(rival)}" for rival in found.alike)
    settling = reading.settling()
    yield f"settled by  {'nothing more to ask' if settling is None else f'{len(settling.c)} rows'}"


def _keys(rival: Rival) -> str:
    return ", ".join(f"{key} = {str(value).lower() if isinstance(value, bool) else value}" for key, value in rival.keys)


def as_dict(reading: Reading) -> dict[str, Any]:
    """For JSON."""
    settling, best = reading.settling(), reading.best
    unit = None if best.family == PAIRED else toml_of(best, "recorded")
    return {
        "rows": reading.rows,
        "missed": reading.missed,
        "best": {"operation": best.family, "keys": best.keys, "unit": unit},
        "consistent": [
            {
                "operation": found.model.family,
                "keys": found.model.keys,
                "open": [dict(rival.keys) for rival in found.open],
                "alike": [dict(rival.keys) for rival in found.alike],
            }
            for found in reading.consistent
        ],
        "settling_rows": 0 if settling is None else len(settling.c),
    }
