"""Inference from a recording alone: the models consistent with its rows, the keys that the rows do not decide, and rows that
would decide them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arrays import BitArray
from golden.stimulus import Operands, OperandShape
from golden.text import value_as_text
from mmau.probe.candidates import Candidate, consistent, pool_of, telling_rows
from mmau.probe.features.feature import concatenated
from mmau.probe.journal import Evidence
from mmau.probe.model import PAIRED, Model, toml_of
from mmau.probe.model_search import Search
from mmau.probe.start_models import possible_families


@dataclass(frozen=True)
class Consistent:
    """A model that reproduces every row.

    Attributes:
        model: the model.
        open: other models that reproduce every row, and that some input distinguishes from `model`.
        alike: other models for which no such input was found.
        settling: inputs that distinguish the models of `open` from `model`.
    """

    model: Model
    open: list[Candidate]
    alike: list[Candidate]
    settling: Operands


@dataclass(frozen=True)
class Reading:
    """The findings from the rows of a recording.

    Attributes:
        shape: the shape of the recording's operands. rows: the number of rows.
        consistent: for each operation a model that reproduces all rows; empty where `best` misses some.
        best: the model that misses the fewest rows. missed: the number of rows that `best` misses.
    """

    shape: OperandShape
    rows: int
    consistent: list[Consistent]
    best: Model
    missed: int

    def settling(self) -> Operands | None:
        """The rows that would decide between the consistent models; None if no choice is open or no model is consistent."""
        parts = [found.settling for found in self.consistent if len(found.settling.c)]
        if len(self.consistent) > 1:
            parts.append(self._between())
        joined = concatenated(parts) if parts else None
        return joined if joined is not None and len(joined.c) else None

    def _between(self) -> Operands:
        """Rows that distinguish the consistent models of different operations from each other."""
        pool = pool_of(self.shape, 0)
        first, *others = (found.model for found in self.consistent)
        rows, _ = telling_rows(first, [Candidate((("operation", other.family),), other) for other in others], pool)
        return pool.rows(rows)


def read_rows(
    shape: OperandShape, operands: Operands, d: BitArray, seed: int = 0, say: Callable[[str], None] = lambda line: None
) -> Reading:
    """Compare every operation that the formats allow with the rows.

    Args:
        operands, d: operands and results of the recording, at least one row.
        seed: the seed of the search, and of the rows that are searched for distinguishing ones.
        say: takes a line for each step.

    Raises:
        ValueError: no rows, or no operation takes these formats.
    """
    if not len(d):
        raise ValueError("a recording must have rows, got none")
    families = possible_families(shape)
    if not families:
        raise ValueError("no operation takes operands and gives results of these formats")
    evidence = Evidence(operands, d, "recording")
    models, missed = [], []
    for number, family in enumerate(families, 1):
        say(f"{family}: searching, operation {number} of {len(families)}")
        models.append(Search(evidence, seed, family).run(shape))
        missed.append(len(evidence.failing(models[-1])))
        say(f"{family}: the best model reproduces {len(d) - missed[-1]} of {len(d)} rows")
    pool = pool_of(shape, seed)
    found = []
    for model, failing in zip(models, missed, strict=True):
        if not failing:
            say(f"{model.family}: looking for other models that reproduce every row")
            candidates = [candidate for candidate in consistent(model, evidence) if candidate.keys[0][0] != "operation"]
            rows, alike = telling_rows(model, candidates, pool)
            found.append(
                Consistent(model, [candidate for candidate in candidates if candidate not in alike], alike, pool.rows(rows))
            )
    best = int(np.argmin(missed))
    return Reading(shape, len(d), found, models[best], missed[best])


def text_of(reading: Reading) -> str:
    """The report as text."""
    return "\n".join(_lines(reading)) + "\n"


def _lines(reading: Reading) -> Iterator[str]:
    yield f"rows        {reading.rows}"
    if not reading.consistent:
        yield f"explained   by no operation; the best model misses {reading.missed}: {reading.best}"
        return
    for found in reading.consistent:
        yield f"consistent  {found.model}"
        yield from (f"            open: {_keys(candidate)}" for candidate in found.open)
        yield from (f"            the same results: {_keys(candidate)}" for candidate in found.alike)
    settling = reading.settling()
    yield f"settled by  {'nothing more to ask' if settling is None else f'{len(settling.c)} rows'}"


def _keys(candidate: Candidate) -> str:
    return ", ".join(f"{key} = {value_as_text(value)}" for key, value in candidate.keys)


def as_dict(reading: Reading) -> dict[str, Any]:
    """The report as plain JSON."""
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
                "open": [dict(candidate.keys) for candidate in found.open],
                "alike": [dict(candidate.keys) for candidate in found.alike],
            }
            for found in reading.consistent
        ],
        "settling_rows": 0 if settling is None else len(settling.c),
    }
