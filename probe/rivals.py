"""Rivals of a model: others that reproduce all evidence too, and rows that would tell them from it.

Looking for such a row costs the box nothing, for both are models. Where no row is found, the two cannot be told apart as far
as was looked, and a report says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from golden.arrays import BitArray
from golden.comparison import differing
from golden.stimulus import GeneratorDraws, Operands, OperandShape, generate
from probe.evidence import Evidence
from probe.features import RARE, features_of
from probe.features.feature import concatenated
from probe.model import Model, possible_families, starts, values_of
from probe.search import combinations, grouped

POOL = 1 << 18
"""Products of the rows among which telling ones are looked for, beside the features' own questions."""

ROUNDS = 3
"""Times that the features' questions are made anew for the pool."""

RARE_ROUNDS = 6
"""Times that those are made whose keys few rows show."""

TELLING = 3
"""Rows that are asked to tell a rival from the model."""

DISTANCES = (1, 2, 4, 16, 64, 256)
"""How far from its value a long-ranged key is tried: next to it, and ever further."""

LONG_RANGED = ("F", "F2", "e_zero")


@dataclass(frozen=True)
class Rival:
    """A model that differs from the one found in these keys, and gives the same results as far as is known."""

    keys: tuple[tuple[str, object], ...]
    model: Model


def pool_of(shape: OperandShape, seed: int) -> Operands:
    """Rows of all classes, corners and features."""
    draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, 1])))
    features = features_of(shape)
    often = (*features * ROUNDS, *[feature for feature in features if feature in RARE] * RARE_ROUNDS)
    made = [feature.questions(shape, draws) for feature in often]
    return concatenated([*made, generate(shape, min(1 << 14, max(1 << 12, POOL // shape.K)), seed + 1).operands])


def neighbours(model: Model) -> Iterator[Rival]:
    """Models beside this one: other values in one group of keys, long-ranged keys at growing distances."""
    keys = model.keys
    for group in grouped(model.family):
        if group[0] in LONG_RANGED:
            (key,) = group
            values = values_of(key, model.family, model.shape)
            near = {keys[key] + sign * distance for distance in DISTANCES for sign in (-1, 1)} | {values[0], values[-1]}
            found = [{key: value} for value in sorted(near) if values[0] <= value <= values[-1]]
        else:
            found = list(combinations(group, model))
        for changes in found:
            differing = {key: value for key, value in changes.items() if keys[key] != value}
            rival = model.changed(**differing)
            if differing and rival.is_valid():
                yield Rival(tuple(differing.items()), rival)
    if "e_zero" in keys:
        yield from _shifted(model)


def _shifted(model: Model) -> Iterator[Rival]:
    """F and e_zero moved together: the place where a term is cut below e_zero stays."""
    keys = model.keys
    for distance in (-8, -2, -1, 1, 2, 8):
        rival = model.changed(F=keys["F"] + distance, e_zero=keys["e_zero"] + distance)
        if rival.is_valid():
            yield Rival((("F", keys["F"] + distance), ("e_zero", keys["e_zero"] + distance)), rival)


def relatives(model: Model) -> Iterator[Rival]:
    """The same keys in the other families, as far as these have them."""
    for family in possible_families(model.shape):
        if family == model.family:
            continue
        for start in starts(family, model.shape):
            shared = {key: value for key, value in model.items if key in start.keys}
            rival = start.changed(**shared)
            if rival.is_valid():
                yield Rival((("operation", family),), rival)
                break


def consistent(model: Model, evidence: Evidence) -> list[Rival]:
    """The rivals that reproduce all evidence."""
    rivals = [*neighbours(model), *relatives(model)]
    few = np.arange(0, len(evidence), max(1, len(evidence) // 128))
    operands, d = evidence.operands.rows(few), evidence.d[few]
    rivals = [rival for rival in rivals if not rival.model.differs(operands, d).any()]
    return [rival for rival in rivals if not len(evidence.failing(rival.model))]


def apart(model: Model, d: BitArray, rival: Model, rows: Operands) -> np.ndarray:
    """Rows on which a rival's results are not the model's, `d`, by the rule of either for NaN."""
    given = rival.run(rows)
    return np.flatnonzero(differing(given, d, model.operation) | differing(given, d, rival.operation))


def telling_rows(model: Model, rivals: Sequence[Rival], pool: Operands) -> tuple[np.ndarray, list[Rival]]:
    """Rows of the pool that tell rivals from the model, and the rivals that none tells."""
    d: BitArray = model.run(pool)
    rows: set[int] = set()
    alike = []
    for rival in rivals:
        telling = apart(model, d, rival.model, pool)
        if not len(telling):
            alike.append(rival)
        elif not rows.intersection(telling[: 8 * TELLING].tolist()):
            spread = np.unique(np.linspace(0, len(telling) - 1, min(TELLING, len(telling))).astype(np.int64))
            rows.update(telling[spread].tolist())
    return np.array(sorted(rows), np.int64), alike
