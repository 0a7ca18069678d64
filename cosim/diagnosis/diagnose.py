"""The search for the single change of the model that explains a design's mismatches."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis.compared_rows import rows_of
from cosim.diagnosis.diagnosis import Cause, Diagnosis
from cosim.diagnosis.mismatch_places import Located, lane_of, place_of
from golden import Instruction, Operation, Unit
from golden.comparison import differing
from golden.variants import Codes, Model, Rows, Variant, variants

PROBE = 24
"""Number of mismatches on which every change is tried first; a change that explains none of them is dropped."""

SECONDS = 10.0
"""Time limit of a diagnosis (s); the report counts the changes that were not tried by then."""

SAMPLE = 200
"""Number of mismatches and of agreeing rows on which a change is tried next; it is tried on all of them only if all agreeing
rows of the sample still agree."""

PARTS = 3
"""Largest number of changes that are named as explaining all mismatches together, where no single one does."""

LEAST = 3
"""Smallest number of mismatches that each of them explains and those before it do not."""


def diagnose(
    model: Operation | Unit | Instruction,
    mismatches: Sequence[ComparedRow],
    agreeing: Sequence[ComparedRow] = (),
    seconds: float = SECONDS,
) -> Diagnosis:
    """Try every known single change of the model.

    A change is the cause where it gives the design's result for every mismatch, and leaves golden's for the rows that agreed
    (or gives theirs). The diagnosis counts the rows that are given here, no others. Where nothing explains the mismatches,
    and all of them are in one element, row or column of the results, the rows that agreed elsewhere do not count: there the
    design may be right.

    Args:
        model: the specification of the design; for a tile its instruction.
        mismatches: rows that differ. Those with undefined bits are left out.
        agreeing: rows that do not.
        seconds: after which no other change is tried.
    """
    defined = [place for place, row in enumerate(mismatches) if isinstance(row.got, int)]
    known = [row for row in agreeing if isinstance(row.got, int)]
    if not defined:
        return Diagnosis.nothing(len(mismatches))
    found = _diagnosed(model, mismatches, defined, known, seconds)
    where = place_of([mismatches[place] for place in defined], known) if found.cause is None else None
    if where is None:
        return found
    inside = [row for row in known if row.place in where.places]
    if not inside:  # nothing could speak against a cause there
        return replace(found, located=(where.text(),))
    return _diagnosed(model, mismatches, defined, inside, seconds, where)


def _diagnosed(
    model: Operation | Unit | Instruction,
    mismatches: Sequence[ComparedRow],
    defined: Sequence[int],
    agreeing: Sequence[ComparedRow],
    seconds: float,
    where: Located | None = None,
) -> Diagnosis:
    """The diagnosis of the mismatches with defined bits, against these agreeing rows."""
    K = len(mismatches[defined[0]].a)
    golden_model = Model.of(model, K)
    failing, kept = (rows_of(golden_model, rows, K) for rows in ([mismatches[place] for place in defined], agreeing))
    trial = _Trial(golden_model, failing, kept)
    until, tried, left_out = time.monotonic() + seconds, 0, 0
    for variant in variants(golden_model, failing, K):
        if time.monotonic() > until:
            left_out += 1
            continue
        tried += 1
        trial.of(variant)
    found = trial.diagnosis(len(mismatches), defined, tried, left_out)
    lane = lane_of(golden_model, failing, kept) if found.cause is None else None
    located = tuple(text for text in (None if where is None else where.text(), lane) if text is not None)
    return replace(found, where=None if where is None else where.words, located=located)


@dataclass(frozen=True)
class _Tried:
    """A change that explains some mismatches: which ones, how many were tried, and how many agreeing rows still agree."""

    variant: Variant[Rows]
    explains: Codes
    mismatches: int
    kept: int
    agreeing: int

    def cause(self) -> Cause:
        """The change with its numbers."""
        return Cause(self.variant.words, int(self.explains.sum()), self.mismatches, self.kept, self.agreeing)


class _Trial:
    """Tries changes on the rows of a run."""

    def __init__(self, model: Model, failing: Rows, agreeing: Rows) -> None:
        self._model, self._failing, self._agreeing = model, failing, agreeing
        self._probe = failing.of(_spread(len(failing), PROBE))
        self._found: list[_Tried] = []

    def of(self, variant: Variant[Rows]) -> None:
        """Record a change that explains one of the first mismatches."""
        if not self._same(variant, self._probe).any():
            return
        tried = self._on(variant, SAMPLE)
        self._found.append(self._on(variant, None) if tried.kept == tried.agreeing else tried)

    def _on(self, variant: Variant[Rows], limit: int | None) -> _Tried:
        """Try the change on so many mismatches and agreeing rows, spread evenly over all of them."""
        failing, agreeing = (_spread(len(rows), limit) for rows in (self._failing, self._agreeing))
        explains = np.zeros(len(self._failing), bool)
        explains[failing] = self._same(variant, self._failing.of(failing))
        kept = self._kept(variant, self._agreeing.of(agreeing))
        return _Tried(variant, explains, len(failing), kept, len(agreeing))

    def _same(self, variant: Variant[Rows], rows: Rows) -> Codes:
        """The rows in which the change gives the design's result."""
        same: Codes = ~self._differing(variant.results(rows), rows.got)
        return same

    def _kept(self, variant: Variant[Rows], rows: Rows) -> int:
        """The number of agreeing rows that still agree: the change gives the design's result, or golden's."""
        if not len(rows):
            return 0
        results = variant.results(rows)
        return int((~self._differing(results, rows.got) | ~self._differing(results, rows.expected)).sum())

    def _differing(self, results: Codes, codes: Codes) -> Codes:
        found: Codes = differing(results, codes, self._model.operation)
        return found

    def diagnosis(self, mismatches: int, places: Sequence[int], tried: int, left_out: int) -> Diagnosis:
        """The findings, the best first."""
        ranked = sorted(self._found, key=lambda t: (t.kept < t.agreeing, -int(t.explains.sum())))
        complete = tuple(cause for cause in (tried.cause() for tried in ranked) if cause.is_complete)
        best = () if complete else self._together(ranked)
        named = {cause.change for cause in (*complete, *best)}
        of: list[str | None] = [None] * mismatches
        for number, place in enumerate(places):
            of[place] = next((t.variant.words for t in ranked if t.explains[number] and t.variant.words in named), None)
        return Diagnosis(
            mismatches=mismatches, undefined=mismatches - len(places), causes=complete, best=best, of=tuple(of), tried=tried,
            left_out=left_out,
        )  # fmt: skip

    def _together(self, ranked: Sequence[_Tried]) -> tuple[Cause, ...]:
        """A few changes that explain all mismatches together and contradict no agreeing row; none where there are no such.
        Any other model is wrong somewhere, and no hint."""
        open_rows = np.ones(len(self._failing), bool)
        chosen: list[Cause] = []
        fitting = [tried for tried in ranked if tried.kept == tried.agreeing]
        while open_rows.any() and fitting and len(chosen) < PARTS:
            best = max(fitting, key=lambda tried: int((tried.explains & open_rows).sum()))
            if (best.explains & open_rows).sum() < LEAST:
                break
            open_rows &= ~best.explains
            chosen.append(best.cause())
        return () if open_rows.any() else tuple(chosen)


def _spread(count: int, limit: int | None) -> Codes:
    """Indices of so many of `count` rows at even distances; None selects all."""
    if limit is None or count <= limit:
        return np.arange(count)
    return np.linspace(0, count - 1, limit).astype(int)
