"""Search for a model that reproduces the evidence: the synthesis half of the loop.

A search starts from every family at every length and precision, with all other keys at values without effect, and changes
one group of keys at a time to the values that reproduce the most rows. It works on few rows at a time, those that
distinguish models; a model that reproduces these is compared with all evidence, and the rows that it misses join them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any

import numpy as np

from golden.stimulus import OperandShape
from mmau.probe.journal import Evidence
from mmau.probe.model import SUMS, Model, values_of
from mmau.probe.start_models import possible_families, starts, sum_starts, varied_starts

GROUPS: tuple[tuple[str, ...], ...] = (
    ("L", "G"), ("P",), ("order", "add_c"), ("F",), ("F2",), ("h",), ("rho", "truncation", "sticky"), ("e_zero",),
    ("flush_inputs", "flush_results", "overflow"), ("addition",), ("subtract",), ("zero",), ("nan",), ("combination",),
    ("tree", "c"), ("group",), ("product",), ("node",), ("outer",),
)  # fmt: skip
"""Keys that are changed together: in a group, the effect of one key hides that of another."""

MOVED_TOGETHER: tuple[tuple[str, ...], ...] = (("F", "e_zero"), ("F", "h"), ("F", "h", "e_zero"))
"""Numbers that are also moved by one distance together."""

CHANGED_TOGETHER = ("order", "add_c", "addition")
"""Keys that are also changed together: c added last, with the wrong rounding, may miss more rows than c in its place."""


def grouped(model: Model) -> list[tuple[str, ...]]:
    """The groups of a model's keys."""
    groups = [tuple(key for key in group if key in model.keys) for group in GROUPS]
    return [group for group in groups if group]


def combinations(group: tuple[str, ...], model: Model) -> Iterator[dict[str, Any]]:
    """All values of a group's keys together."""
    for values in product(*(values_of(key, model.family, model.shape) for key in group)):
        yield dict(zip(group, values, strict=True))


def sweeps(model: Model) -> Iterator[list[Model]]:
    """The models that differ from this one in one group of keys, and those with several keys moved by one distance: with F
    and e_zero terms are cut at the same place below e_zero; with F and h, products at the same place below their own
    exponents; with all three, both."""
    for group in grouped(model):
        yield [model.changed(**keys) for keys in combinations(group, model)]
    if set(CHANGED_TOGETHER) <= set(model.keys):
        yield [model.changed(**keys) for keys in combinations(CHANGED_TOGETHER, model)]
    for line in MOVED_TOGETHER:
        if set(line) <= set(model.keys):
            yield list(_along(model, line))


def _along(model: Model, line: tuple[str, ...]) -> Iterator[Model]:
    """The models with these keys moved by one distance, as far as each has values."""
    values = {key: values_of(key, model.family, model.shape) for key in line}
    lowest = max(values[key][0] - model.keys[key] for key in line)
    highest = min(values[key][-1] - model.keys[key] for key in line)
    for distance in range(lowest, highest + 1):
        yield model.changed(**{key: model.keys[key] + distance for key in line})


FEWEST, FEW, ACTIVE = 16, 64, 224
"""Rows on which all starts are compared, rows on which the best starts are compared, and rows of a search at its start."""

FOREMOST = 96
"""Starts of a family that advance from `FEWEST` to `FEW` rows, together with all that score as high as the last of them."""

FINALISTS = 12
"""Models that advance from the few rows to all rows of the search."""

BEGINNINGS = 6
"""Models from which a search descends besides the best of each family, the best first: a family whose start has the wrong
rounding may score below those that start with every rounding."""

NEAR = 0.34
"""Share of the search's rows that a model may miss for two groups to be changed at once: a model that misses more is better
replaced by another start."""

TOGETHER = 7_000
"""Number of models of two groups up to which all are tried: enough for every F with every rounding and truncation, because
where small terms show only with the right F, no other F leads to it."""

MOST_TRIED = 100_000
"""Models of each round of a search at most, beside the starts: a device that no model explains ends it."""

BESIDE = 12
"""Distance from its value up to which every value of a number is tried, where not all values are."""

COARSE = 24
"""Values spread over the whole range of a number that are tried in addition."""

Programs = Callable[[], Sequence[Model]]
"""Function that makes the programs of additions to begin with."""

Suspect = Callable[[np.ndarray], None]
"""Function that looks at the indices of the rows that a model misses."""


class Search:
    """One search; its rows grow when a model that reproduces them fails others."""

    def __init__(self, evidence: Evidence, seed: int, family: str | None = None) -> None:
        """A search among the models of one family, or of all that the operands allow."""
        self.evidence = evidence
        self._family = family
        self.tried = self._until = 0
        self._rng = np.random.default_rng(seed)
        self._active = np.arange(0)
        self._ends: set[tuple[Model, bool, int]] = set()

    def run(self, shape: OperandShape, known: Model | None = None, in_its_order: Programs = list,
            suspect: Suspect = lambda failing: None) -> Model:  # fmt: skip
        """The model that reproduces the most evidence: all of it where the search succeeds.

        Args:
            known: a model that reproduced the evidence before its last rows.
            in_its_order: makes programs of additions in the device's own order, where no operation and no named tree does.
            suspect: sees the rows that the first model misses, if there are any, and may end the search by raising.
        """
        best: Model | None = None
        most = (-1, False)
        reached_by: dict[str, tuple[int, Model]] = {}  # the best model of each family so far
        for beginnings, in_pairs in (
            (self._beginnings(shape, known), False), (self._sum_beginnings(lambda: sum_starts(shape)), False),
            (self._sum_beginnings(in_its_order), False), (_best_first(reached_by), True),
            (self._beginnings(shape, known), True), (self._varied_beginnings(shape), True),
        ):  # fmt: skip
            self._until = self.tried + MOST_TRIED
            for beginning in beginnings:
                found = self._with_nan(self._refined(beginning, in_pairs))
                # An operation that gives the device's code of NaN is preferred to one that leaves the code open.
                failing = self.evidence.failing(found)
                reached = (len(self.evidence) - len(failing), self.evidence.is_equal(found))
                if best is None and len(failing):
                    suspect(failing)
                if reached > most:
                    best, most = found, reached
                if reached[0] > reached_by.get(found.family, (-1, found))[0]:
                    reached_by[found.family] = reached[0], found
                if self.tried > self._until:
                    break
                if most == (len(self.evidence), True):
                    return found
            if most[0] == len(self.evidence):
                break
        assert best is not None
        return best

    def _with_nan(self, model: Model) -> Model:
        """The same model with a rule for NaN that gives the device's codes, where there is one."""
        if "nan" not in model.keys or len(self.evidence.failing(model)) or self.evidence.is_equal(model):
            return model
        others = (model.changed(nan=nan) for nan in values_of("nan", model.family, model.shape))
        return next((other for other in others if other.is_valid() and self.evidence.is_equal(other)), model)

    def _beginnings(self, shape: OperandShape, known: Model | None) -> Iterator[Model]:
        """The known model, then the starts of each family that reproduce the most of a few rows."""
        if known is not None:
            self._active = self._chosen(ACTIVE)
            failing = self.evidence.failing(known)
            self._active = np.union1d(self._active, failing[:ACTIVE])
            yield known
        pool = self._pool(starts, shape)
        sample = [models[int(i)] for models in pool.values() for i in np.linspace(0, len(models) - 1, 8)]
        self._active = np.union1d(self._active, self._telling(sample, ACTIVE))
        yield from self._first_of(pool)

    def _varied_beginnings(self, shape: OperandShape) -> Iterator[Model]:
        """Starts with every rounding and every truncation, for a search in which the plain starts failed: a rounding to few
        bits looks like a small F, so that the right family and length may not have been among the best plain starts."""
        yield from self._first_of(self._pool(varied_starts, shape))

    def _sum_beginnings(self, made: Programs) -> Iterator[Model]:
        """Programs of additions, for a device that no operation explains."""
        if self._family is None and (programs := made()):
            yield from self._first_of({SUMS: list(programs)})

    def _pool(self, made: Callable[[str, OperandShape], Sequence[Model]], shape: OperandShape) -> dict[str, list[Model]]:
        """The models that each family of this search begins with."""
        return {name: list(made(name, shape)) for name in possible_families(shape) if self._family in (None, name)}

    def _first_of(self, pool: dict[str, list[Model]]) -> Iterator[Model]:
        """The models of each family that reproduce the most of a few rows."""
        few = self._rng.permutation(self._active)[:FEW]
        ranked = []
        for models in pool.values():
            if len(models) > FOREMOST:
                scores = np.array([self._score(model, few[:FEWEST]) for model in models])
                enough = np.sort(scores)[-FOREMOST]
                models = [model for model, score in zip(models, scores, strict=True) if score >= enough]
            scores = np.array([self._score(model, few) for model in models])
            best = np.argsort(-scores, kind="stable")[:FINALISTS]
            rescored = [(self._score(models[int(i)], self._active), models[int(i)]) for i in best]
            rescored.sort(key=lambda pair: -pair[0])
            ranked += [(score, place, model) for place, (score, model) in enumerate(rescored[:BEGINNINGS])]
        ranked.sort(key=lambda found: -found[0])
        first = [found for found in ranked if found[1] == 0]
        others = [found for found in ranked if found[1] > 0]
        self._until = self.tried + MOST_TRIED  # the starts that were compared do not count
        for _, _, model in first + others[:BEGINNINGS]:
            yield model

    def _telling(self, models: Sequence[Model], count: int) -> np.ndarray:
        """Rows on which these models disagree with each other or with the device under test; any rows if there are none."""
        agree = np.array([~model.differs(self.evidence.operands, self.evidence.d) for model in models])
        telling = np.flatnonzero(~(agree.all(axis=0)))
        if len(telling) > count:
            telling = np.sort(self._rng.permutation(telling)[:count])
        return telling if len(telling) else self._chosen(count)

    def _chosen(self, count: int) -> np.ndarray:
        return np.sort(self._rng.permutation(len(self.evidence))[:count])

    def _refined(self, model: Model, in_pairs: bool) -> Model:
        """The best model that this start reaches. Rows that it misses join the search, until it misses no new ones."""
        while True:
            model = self._descended(model, in_pairs)
            failing = self.evidence.failing(model)
            fresh = np.setdiff1d(failing, self._active)
            if not len(fresh) or len(failing) > len(fresh):  # the search already works on these rows
                return model
            self._active = np.union1d(self._active, self._rng.permutation(fresh)[:FEW])

    def _descended(self, model: Model, in_pairs: bool) -> Model:
        """Change one group of keys at a time, with `in_pairs` then two at a time, while more rows are reproduced. A model
        from which nothing led further on as many rows (they only grow) is an end at once."""
        score = self._score(model, self._active)
        while score < len(self._active) and (model, in_pairs, len(self._active)) not in self._ends:
            near = in_pairs and len(self._active) - score <= len(self._active) * NEAR
            for candidates in chain(sweeps(model), self._pairs(model) if near else ()):
                if self.tried > self._until:
                    return model
                found, reached = self._best(model, score, candidates)
                if reached > score:
                    model, score = found, reached
                    break
            else:
                self._ends.add((model, in_pairs, len(self._active)))
        return model

    def _pairs(self, model: Model) -> Iterator[Iterable[Model]]:
        """Models with two groups changed at once, smaller pairs first; some values of a number where there are too many."""
        groups = {group: list(combinations(group, model)) for group in grouped(model)}
        pairs = []
        for n, x in enumerate(groups):
            for y in list(groups)[n + 1 :]:
                changes = {x: groups[x], y: groups[y]}
                for group in sorted(changes, key=lambda group: -len(groups[group])):  # the longer one has fewer first
                    if len(changes[x]) * len(changes[y]) > TOGETHER:
                        changes[group] = _some(group, groups[group], model)
                pairs.append((changes[x], changes[y]))
        for first, second in sorted(pairs, key=lambda pair: len(pair[0]) * len(pair[1])):
            yield [model.changed(**p, **q) for p in first for q in second]

    def _best(self, model: Model, score: int, candidates: Iterable[Model]) -> tuple[Model, int]:
        """The model that reproduces the most rows of the search, and its score. Of equal ones the first, which has the most
        keys at their defaults; or the middle one where they differ in numbers only, so that a number with only a bound known
        is narrowed from both sides."""
        candidates = list(candidates)
        if len(candidates) > FINALISTS:
            operands, d = self.evidence.operands.rows(self._active), self.evidence.d[self._active]
            differs = model.differs(operands, d)
            missed, had = self._active[differs], self._active[~differs]
            few = np.concatenate([self._rng.permutation(missed)[: FEW // 2], self._rng.permutation(had)[: FEW // 2]])
            candidates = self._foremost(candidates, few)
        scores = [self._score(candidate, self._active) for candidate in candidates]
        most = max(scores, default=-1)
        if most <= score:
            return model, score
        tied = [candidate for candidate, reached in zip(candidates, scores, strict=True) if reached == most]
        return tied[len(tied) // 2 if _differ_in_a_number(tied) else 0], most

    def _foremost(self, candidates: Sequence[Model], rows: np.ndarray) -> list[Model]:
        """The models that reproduce the most of a few rows, at most `FINALISTS`; of more equal ones an even selection."""
        scores = np.array([self._score(candidate, rows) for candidate in candidates])
        order = np.argsort(-scores, kind="stable")
        level = np.flatnonzero(scores == scores.max())
        if len(level) > FINALISTS:
            order = level[np.linspace(0, len(level) - 1, FINALISTS).astype(np.int64)]
        return [candidates[int(i)] for i in sorted(order[:FINALISTS])]

    def _score(self, model: Model, rows: np.ndarray) -> int:
        self.tried += 1
        return self.evidence.matched(model, rows) if model.is_valid() else -1


def _best_first(reached_by: dict[str, tuple[int, Model]]) -> Iterator[Model]:
    """The best models of the families, the one that reproduces the most rows first."""
    for _, model in sorted(reached_by.values(), key=lambda found: -found[0]):
        yield model


def _some(group: tuple[str, ...], changes: list[dict[str, Any]], model: Model) -> list[dict[str, Any]]:
    """Some values of a number, including its lowest and those near its present value; all values of other keys."""
    if len(group) > 1 or len(changes) <= COARSE:
        return changes
    near = [n for n, change in enumerate(changes) if abs(change[group[0]] - model.keys[group[0]]) <= BESIDE]
    far = np.linspace(0, len(changes) - 1, COARSE).astype(int).tolist()
    return [changes[n] for n in sorted({*near, *far})]


def _differ_in_a_number(models: Sequence[Model]) -> bool:
    """Whether models differ in nothing but F, F2, h, e_zero."""
    first = models[0].keys
    changed = {key for model in models for key, value in model.items if value != first[key]}
    return changed <= {"F", "F2", "h", "e_zero"}
