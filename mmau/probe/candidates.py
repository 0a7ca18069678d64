"""Candidate models: other models that reproduce all answers too, and rows that would distinguish them.

The search for such a row evaluates models only and asks the device under test nothing. If it finds none, the report states
that the two models were not distinguished, and on how many rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray
from golden.chains.sum_chain import Node, SumTable, node_of
from golden.comparison import differing
from golden.stimulus import GeneratorDraws, Operands, OperandShape, generate
from golden.stimulus.shape import with_missing_ones
from mmau.probe.features import telling_features
from mmau.probe.features.feature import concatenated
from mmau.probe.journal import Evidence
from mmau.probe.model import NODES, SUMS, Model, values_of
from mmau.probe.model_search import MOVED_TOGETHER, combinations, grouped
from mmau.probe.start_models import possible_families, starts

POOL = 1 << 18
"""Products of the rows that are searched for distinguishing ones, besides the questions of the features."""

TELLING = 3
"""Rows that are asked to distinguish a candidate model from the model."""

LONG_RANGED = ("F", "F2", "h", "e_zero")

LINES: tuple[tuple[str, ...], ...] = (*((key,) for key in LONG_RANGED), *MOVED_TOGETHER, ("F", "F2"))
"""Long-ranged keys that are moved by one distance together."""

Stands = Callable[[Model], bool]
"""A test whether a model reproduces all known answers."""


@dataclass(frozen=True)
class Candidate:
    """A model that differs from the found model in the given keys and reproduces the same known answers."""

    keys: tuple[tuple[str, object], ...]
    model: Model


def pool_of(shape: OperandShape, seed: int) -> Operands:
    """Rows of all classes, corners and features."""
    draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, 1])))
    made = [feature.questions(shape, draws) for feature in telling_features(shape)]
    rows = concatenated([*made, generate(shape, min(1 << 14, max(1 << 12, POOL // shape.K)), seed + 1).operands])
    return rows._replace(**with_missing_ones(shape, rows.scale_a, rows.scale_b))


@dataclass(frozen=True)
class AlikeByRule:
    """Values of a key of a program of additions that give the same results as the model's, and the rule."""

    key: str
    values: tuple[str, ...]
    why: str

    @property
    def shown(self) -> str:
        """The values, for a report."""
        return "any" if self.values == NODES else ", ".join(self.values)


def alike_by_rule(model: Model) -> list[AlikeByRule]:
    """The values that no vector can tell from the model's."""
    if model.family != SUMS:
        return []
    table, found = SumTable(**model.keys), []
    if "outer" in model.keys and not table.adds_outside:
        found.append(AlikeByRule("outer", NODES, "no sums of groups are added, nor is c added last"))
    whole = tuple(node for node in NODES if _holds_products(node_of(node), model.shape.a, model.shape.b))
    if table.product in ("exact", *whole):
        others = tuple(value for value in ("exact", *whole) if value != table.product)
        found.append(AlikeByRule("product", others, "each holds every product of these formats"))
    return [each for each in found if each.values]


def _holds_products(node: Node, a: Format, b: Format) -> bool:
    """Whether every product of two formats is a number of a node's format."""
    lowest = a.e_min - a.man_bits + b.e_min - b.man_bits
    fits = a.man_bits + b.man_bits + 1 <= node.format.man_bits and a.e_max + b.e_max + 1 <= node.format.e_max
    return fits and node.format.e_min - node.format.man_bits <= lowest


def neighbours(model: Model) -> Iterator[Candidate]:
    """Neighbouring models: other values in one group of keys that are not long-ranged."""
    keys = model.keys
    alike = {each.key: each.values for each in alike_by_rule(model)}
    for group in grouped(model):
        if group[0] in LONG_RANGED:
            continue
        for changes in combinations(group, model):
            if len(group) == 1 and changes[group[0]] in alike.get(group[0], ()):
                continue
            differing = {key: value for key, value in changes.items() if keys[key] != value}
            candidate = model.changed(**differing)
            if differing and candidate.is_valid():
                yield Candidate(tuple(differing.items()), candidate)


def moved(model: Model, line: tuple[str, ...], distance: int) -> Candidate:
    """The model with the keys of a line moved by one distance."""
    changed = {key: model.keys[key] + distance for key in line}
    return Candidate(tuple(changed.items()), model.changed(**changed))


def outermost(model: Model, stands: Stands) -> Iterator[Candidate]:
    """The farthest model on each line, in both directions, that reproduces the known answers."""
    for line in LINES:
        if set(line) <= set(model.keys):
            farthest = [_farthest(model, line, sign, stands) for sign in (-1, 1)]
            yield from (moved(model, line, distance) for distance in farthest if distance)


def _farthest(model: Model, line: tuple[str, ...], sign: int, stands: Stands) -> int:
    """The distance of the farthest model that reproduces the known answers, found with powers of two and bisection; 0 if
    there is none."""

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
    """The distance by which a key can be moved; 0 beyond its range, where an e_zero below every term may be."""
    values, value = values_of(key, model.family, model.shape), int(model.keys[key])
    return max(0, int(values[-1]) - value if sign > 0 else value - int(values[0]))


def bisected(inside: int, outside: int, holds: Callable[[int], bool]) -> int:
    """The last number, going from `inside` towards `outside`, for which `holds` is true and false for its neighbour.
    `holds(inside)` must be true; the result is `inside` if both are equal."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def relatives(model: Model) -> Iterator[Candidate]:
    """Models of the other families, with the values of all keys that they share with this model."""
    for family in possible_families(model.shape):
        if family == model.family:
            continue
        for start in starts(family, model.shape):
            shared = {key: value for key, value in model.items if key in start.keys}
            candidate = start.changed(**shared)
            if candidate.is_valid():
                yield Candidate((("operation", family),), candidate)
                break


def consistent(model: Model, evidence: Evidence) -> list[Candidate]:
    """The candidate models that reproduce all evidence."""
    few = np.arange(0, len(evidence), max(1, len(evidence) // 128))
    operands, d = evidence.operands.rows(few), evidence.d[few]

    def stands(candidate: Model) -> bool:
        return candidate.is_valid() and not candidate.differs(operands, d).any() and not len(evidence.failing(candidate))

    others = [candidate for candidate in (*neighbours(model), *relatives(model)) if stands(candidate.model)]
    return [*others, *outermost(model, stands)]


def apart(model: Model, d: BitArray, candidate: Model, rows: Operands) -> np.ndarray:
    """Rows on which a candidate's results differ from the model's, `d`, by either model's rule for NaN."""
    given = candidate.run(rows)
    return np.flatnonzero(differing(given, d, model.operation) | differing(given, d, candidate.operation))


def telling_rows(model: Model, candidates: Sequence[Candidate], pool: Operands) -> tuple[np.ndarray, list[Candidate]]:
    """Rows of the pool that distinguish candidate models from the model, and the candidates that no row distinguishes."""
    d: BitArray = model.run(pool)
    rows: set[int] = set()
    alike = []
    for candidate in candidates:
        telling = apart(model, d, candidate.model, pool)
        if not len(telling):
            alike.append(candidate)
            continue
        telling = _of_the_nearest(model, candidate, pool, d, telling)
        if not rows.intersection(telling[: 8 * TELLING].tolist()):
            spread = np.unique(np.linspace(0, len(telling) - 1, min(TELLING, len(telling))).astype(np.int64))
            rows.update(telling[spread].tolist())
    return np.array(sorted(rows), np.int64), alike


def _of_the_nearest(model: Model, candidate: Candidate, pool: Operands, d: BitArray, telling: np.ndarray) -> np.ndarray:
    """For a candidate on a line, the rows that also distinguish the nearest model towards it; else all rows."""
    line = tuple(key for key, _ in candidate.keys)
    if line not in LINES:
        return telling
    operands, given = pool.rows(telling), d[telling]
    distance = int(candidate.model.keys[line[0]]) - int(model.keys[line[0]])

    def distinguishing(step: int) -> np.ndarray:
        other = moved(model, line, step).model
        return apart(model, given, other, operands) if other.is_valid() else np.arange(0)

    nearest = bisected(distance, 0, lambda step: len(distinguishing(step)) > 0)
    rows: np.ndarray = telling[distinguishing(nearest)]
    return rows
