"""From evidence to a model: the synthesis half of the loop.

A search starts from every family at every length and precision, with all other keys as if they were not there, and changes
one group of keys at a time to whatever reproduces the most rows. It works on few rows at a time, those that tell models
apart; a model that reproduces these is held against all evidence, and the rows it misses join them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any

import numpy as np

from golden.stimulus import OperandShape
from probe.evidence import Evidence
from probe.model import Model, keys_of, possible_families, starts, values_of, varied_starts

GROUPS: tuple[tuple[str, ...], ...] = (
    ("L", "G"), ("P",), ("order",), ("F",), ("F2",), ("rho", "truncation", "sticky"), ("e_zero",),
    ("flush_inputs", "flush_results", "overflow"), ("nan",),
)  # fmt: skip
"""Keys that are changed together: within a group, one hides the other's effect."""

FEWEST, FEW, ACTIVE = 16, 64, 224
"""Rows on which all starts are compared, then those of them that are left; rows of a search at its start."""

FOREMOST = 96
"""Starts of a family that go from the fewest rows to a few more, and those that are level with the last of these."""

KEPT = 12
"""Models that go from the few rows to all rows of the search."""

BEGINNINGS = 6
"""Models from which a search descends, the best first."""

NEAR = 0.34
"""Share of the search's rows that a model may miss for two groups to be changed at once: further off, it is another start
that leads on."""

TOGETHER = 7_000
"""Models of two groups up to which all are tried. That is every F with every way to round and to cut: where small terms are
seen beside one F alone, no other leads to it."""

BESIDE = 12
"""How far from its value a number is tried else, every value in between."""

COARSE = 24
"""Values of a number from its whole range that are tried then."""


class Search:
    """One search: the rows it works on grow as models that reproduce them fail others."""

    def __init__(self, evidence: Evidence, seed: int, family: str | None = None) -> None:
        """A search among the models of one family, or of all that the operands allow."""
        self.evidence = evidence
        self._family = family
        self.tried = 0
        self._rng = np.random.default_rng(seed)
        self._active = np.arange(0)

    def run(self, shape: OperandShape, known: Model | None = None) -> Model:
        """The model that reproduces the most evidence: all of it where the search succeeds.

        Args:
            known: a model that reproduced the evidence before its last rows.
        """
        best: Model | None = None
        most = (-1, False)
        for beginnings in (self._beginnings(shape, known), self._varied_beginnings(shape)):
            for beginning in beginnings:
                found = self._with_nan(self._refined(beginning))
                # An operation that leaves the code of a NaN open loses against one that has the box's own code.
                reached = (len(self.evidence) - len(self.evidence.failing(found)), self.evidence.is_equal(found))
                if reached > most:
                    best, most = found, reached
                if most == (len(self.evidence), True):
                    return found
            if most[0] == len(self.evidence):
                break
        assert best is not None
        return best

    def _with_nan(self, model: Model) -> Model:
        """The same model with a rule for NaN that gives the box's own codes, where there is one."""
        if "nan" not in model.keys or len(self.evidence.failing(model)) or self.evidence.is_equal(model):
            return model
        others = (model.changed(nan=nan) for nan in values_of("nan", model.family, model.shape))
        return next((other for other in others if self.evidence.is_equal(other)), model)

    def _beginnings(self, shape: OperandShape, known: Model | None) -> Iterator[Model]:
        """The known model, then the starts that reproduce the most of a few rows; of each family some."""
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
        """The same with every rounding and every way to cut, where the starts, of one rounding each, led nowhere: a rounding
        to few bits looks like a small F, so that the right family and length may not have been among them."""
        yield from self._first_of(self._pool(varied_starts, shape))

    def _pool(self, made: Callable[[str, OperandShape], Sequence[Model]], shape: OperandShape) -> dict[str, list[Model]]:
        """The models that each family of this search begins with."""
        return {name: list(made(name, shape)) for name in possible_families(shape) if self._family in (None, name)}

    def _first_of(self, pool: dict[str, list[Model]]) -> Iterator[Model]:
        """Those that reproduce the most of a few rows; of each family some."""
        few = self._rng.permutation(self._active)[:FEW]
        ranked = []
        for models in pool.values():
            if len(models) > FOREMOST:
                scores = np.array([self._score(model, few[:FEWEST]) for model in models])
                enough = np.sort(scores)[-FOREMOST]
                models = [model for model, score in zip(models, scores, strict=True) if score >= enough]
            scores = np.array([self._score(model, few) for model in models])
            best = np.argsort(-scores, kind="stable")[:KEPT]
            rescored = [(self._score(models[int(i)], self._active), models[int(i)]) for i in best]
            rescored.sort(key=lambda pair: -pair[0])
            ranked += [(score, place, model) for place, (score, model) in enumerate(rescored[:BEGINNINGS])]
        ranked.sort(key=lambda found: -found[0])
        first = [found for found in ranked if found[1] == 0]
        others = [found for found in ranked if found[1] > 0]
        for _, _, model in first[:4] + others[:BEGINNINGS]:
            yield model

    def _telling(self, models: Sequence[Model], count: int) -> np.ndarray:
        """Rows on which these models disagree with each other or with the box, as far as there are any."""
        agree = np.array([~model.differs(self.evidence.operands, self.evidence.d) for model in models])
        telling = np.flatnonzero(~(agree.all(axis=0)))
        if len(telling) > count:
            telling = np.sort(self._rng.permutation(telling)[:count])
        return telling if len(telling) else self._chosen(count)

    def _chosen(self, count: int) -> np.ndarray:
        return np.sort(self._rng.permutation(len(self.evidence))[:count])

    def _refined(self, model: Model) -> Model:
        """The best model to be reached. Rows that it misses join the search until there are none, or it is stuck."""
        while True:
            model = self._descended(model)
            failing = self.evidence.failing(model)
            fresh = np.setdiff1d(failing, self._active)
            if not len(fresh) or len(failing) > len(fresh):  # what the search works on already leads no further
                return model
            self._active = np.union1d(self._active, self._rng.permutation(fresh)[:FEW])

    def _descended(self, model: Model) -> Model:
        """Change one group of keys after the other, and then two at a time, while that reproduces more rows."""
        score = self._score(model, self._active)
        while score < len(self._active):
            near = len(self._active) - score <= len(self._active) * NEAR
            for candidates in chain(sweeps(model), self._pairs(model) if near else ()):
                found, reached = self._best(model, score, candidates)
                if reached > score:
                    model, score = found, reached
                    break
            else:
                break
        return model

    def _pairs(self, model: Model) -> Iterator[Iterable[Model]]:
        """Two groups changed at once, the smaller pairs first; of numbers some values where there are too many together."""
        groups = {group: list(combinations(group, model)) for group in grouped(model.family)}
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
        """Of some models the one that reproduces the most rows of the search; of several, the first, which has the most keys
        at their defaults. Where they differ in the value of one number, it is the one in their middle, so that a number of
        which only a bound is known is closed in on from both sides."""
        candidates = list(candidates)
        if len(candidates) > KEPT:
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
        """Those that reproduce the most of a few rows, at most `KEPT`: where more are level, some from all of these."""
        scores = np.array([self._score(candidate, rows) for candidate in candidates])
        order = np.argsort(-scores, kind="stable")
        level = np.flatnonzero(scores == scores.max())
        if len(level) > KEPT:
            order = level[np.linspace(0, len(level) - 1, KEPT).astype(np.int64)]
        return [candidates[int(i)] for i in sorted(order[:KEPT])]

    def _score(self, model: Model, rows: np.ndarray) -> int:
        self.tried += 1
        return self.evidence.matched(model, rows) if model.is_valid() else -1


def _some(group: tuple[str, ...], changes: list[dict[str, Any]], model: Model) -> list[dict[str, Any]]:
    """Of a number some values, its lowest and those beside its own among them; of other keys all."""
    if len(group) > 1 or len(changes) <= COARSE:
        return changes
    near = [n for n, change in enumerate(changes) if abs(change[group[0]] - model.keys[group[0]]) <= BESIDE]
    far = np.linspace(0, len(changes) - 1, COARSE).astype(int).tolist()
    return [changes[n] for n in sorted({*near, *far})]


def _differ_in_a_number(models: Sequence[Model]) -> bool:
    """Whether models differ in nothing but F, F2, e_zero."""
    first = models[0].keys
    changed = {key for model in models for key, value in model.items if value != first[key]}
    return changed <= {"F", "F2", "e_zero"}


def grouped(family: str) -> list[tuple[str, ...]]:
    """The groups of a family's keys."""
    known = keys_of(family)
    groups = [tuple(key for key in group if key in known) for group in GROUPS]
    return [group for group in groups if group]


def combinations(group: tuple[str, ...], model: Model) -> Iterator[dict[str, Any]]:
    """All values of a group's keys together."""
    for values in product(*(values_of(key, model.family, model.shape) for key in group)):
        yield dict(zip(group, values, strict=True))


def sweeps(model: Model) -> Iterator[list[Model]]:
    """The models that differ from this one in one group of keys; and those that cut at the same place below e_zero."""
    for group in grouped(model.family):
        yield [model.changed(**keys) for keys in combinations(group, model)]
    keys = model.keys
    if "e_zero" in keys:
        below = keys["e_zero"] - keys["F"]
        exponents = set(values_of("e_zero", model.family, model.shape))
        yield [
            model.changed(F=F, e_zero=below + F) for F in values_of("F", model.family, model.shape) if below + F in exponents
        ]
