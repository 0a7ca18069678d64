"""Rivals of a model: others that reproduce all evidence too, and rows that would tell them from it.

Looking for such a row costs the box nothing, for both are models. Where no row is found, the two cannot be told apart as far
as was looked, and a report says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from golden.arrays import BitArray
from golden.comparison import differing
from golden.stimulus import GeneratorDraws, Operands, OperandShape, generate
from probe.evidence import Evidence
from probe.features import telling_features
from probe.features.feature import concatenated
from probe.model import Model, possible_families, starts, values_of
from probe.search import combinations, grouped

POOL = 1 << 18
"""Products of the rows among which telling ones are looked for, beside the features' own questions."""

TELLING = 3
"""Rows that are asked to tell a rival from the model."""

LONG_RANGED = ("F", "F2", "e_zero")

LINES: tuple[tuple[str, ...], ...] = (("F",), ("F2",), ("e_zero",), ("F", "e_zero"), ("F", "F2"))
"""Long-ranged keys that are moved by one distance together. F with e_zero: below e_zero terms are cut at the same place."""

Stands = Callable[[Model], bool]
"""Whether a model reproduces what is known."""


@dataclass(frozen=True)
class Rival:
    """A model that differs from the one found in these keys, and gives the same results as far as is known."""

    keys: tuple[tuple[str, object], ...]
    model: Model


def pool_of(shape: OperandShape, seed: int) -> Operands:
    """Rows of all classes, corners and features."""
    draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, 1])))
    made = [feature.questions(shape, draws) for feature in telling_features(shape)]
    return concatenated([*made, generate(shape, min(1 << 14, max(1 << 12, POOL // shape.K)), seed + 1).operands])


def neighbours(model: Model) -> Iterator[Rival]:
    """Models beside this one: other values in one group of keys that are not long-ranged."""
    keys = model.keys
    for group in grouped(model.family):
        if group[0] in LONG_RANGED:
            continue
        for changes in combinations(group, model):
            differing = {key: value for key, value in changes.items() if keys[key] != value}
            rival = model.changed(**differing)
            if differing and rival.is_valid():
                yield Rival(tuple(differing.items()), rival)


def moved(model: Model, line: tuple[str, ...], distance: int) -> Rival:
    """The model with the keys of a line moved by one distance."""
    changed = {key: model.keys[key] + distance for key in line}
    return Rival(tuple(changed.items()), model.changed(**changed))


def outermost(model: Model, stands: Stands) -> Iterator[Rival]:
    """On each line and in both directions the farthest model that stands."""
    for line in LINES:
        if set(line) <= set(model.keys):
            farthest = [_farthest(model, line, sign, stands) for sign in (-1, 1)]
            yield from (moved(model, line, distance) for distance in farthest if distance)


def _farthest(model: Model, line: tuple[str, ...], sign: int, stands: Stands) -> int:
    """The distance of the farthest model that stands, as far as powers of two and bisection show; 0 where none does."""

    def holds(distance: int) -> bool:
        return stands(moved(model, line, sign * distance).model)

    room = min(_room(model, key, sign) for key in line)
    distances = sorted({1 << n for n in range(room.bit_length())} | {room} - {0})
    standing = [distance for distance in distances if holds(distance)]
    if not standing:
        return 0
    beyond = next((distance for distance in distances if distance > standing[-1]), standing[-1])
    return sign * bisected(standing[-1], beyond, holds)


def _room(model: Model, key: str, sign: int) -> int:
    """How far a key can be moved; not at all where it lies beyond its range, as an e_zero below every term may."""
    values, value = values_of(key, model.family, model.shape), int(model.keys[key])
    return max(0, int(values[-1]) - value if sign > 0 else value - int(values[0]))


def bisected(inside: int, outside: int, holds: Callable[[int], bool]) -> int:
    """A number that holds, next to one that does not, between one that does and one that does not; `inside` where these are
    the same."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


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
    few = np.arange(0, len(evidence), max(1, len(evidence) // 128))
    operands, d = evidence.operands.rows(few), evidence.d[few]

    def stands(rival: Model) -> bool:
        return rival.is_valid() and not rival.differs(operands, d).any() and not len(evidence.failing(rival))

    others = [rival for rival in (*neighbours(model), *relatives(model)) if stands(rival.model)]
    return [*others, *outermost(model, stands)]


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
            continue
        telling = _of_the_nearest(model, rival, pool, d, telling)
        if not rows.intersection(telling[: 8 * TELLING].tolist()):
            spread = np.unique(np.linspace(0, len(telling) - 1, min(TELLING, len(telling))).astype(np.int64))
            rows.update(telling[spread].tolist())
    return np.array(sorted(rows), np.int64), alike


def _of_the_nearest(model: Model, rival: Rival, pool: Operands, d: BitArray, telling: np.ndarray) -> np.ndarray:
    """Of the rows that tell a rival on a line those that tell the nearest model on the way to it too; all of another."""
    line = tuple(key for key, _ in rival.keys)
    if line not in LINES:
        return telling
    operands, given = pool.rows(telling), d[telling]
    distance = int(rival.model.keys[line[0]]) - int(model.keys[line[0]])

    def told(step: int) -> np.ndarray:
        other = moved(model, line, step).model
        return apart(model, given, other, operands) if other.is_valid() else np.arange(0)

    nearest = bisected(distance, 0, lambda step: len(told(step)) > 0)
    rows: np.ndarray = telling[told(nearest)]
    return rows
