"""Which single change of the model gives what a design gave."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain as chained

import numpy as np

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis.diagnosis import Cause, Diagnosis
from cosim.diagnosis.model import Change, Codes, Model, Rows
from cosim.diagnosis.operands import operand_changes
from cosim.diagnosis.parameters import parameter_changes
from cosim.diagnosis.results import result_changes
from cosim.diagnosis.steps import step_changes
from golden import Instruction, Operation, Unit
from golden.comparison import differing

PROBE = 24
"""Mismatches on which every change is tried; one that explains none of them is given up."""

SECONDS = 10.0
"""Time that a diagnosis may take; what is not tried by then is told."""

SAMPLE = 200
"""Mismatches, and rows that agreed, on which a change is tried next; on all of them only where it keeps all that agreed."""

NEAR_MISSES = 2
"""Changes that explain most mismatches and yet are contradicted by rows that agreed, told where none explains everything."""

SHOWN = 5
"""Changes that are told where none explains everything."""


def diagnose(
    model: Operation | Unit | Instruction,
    mismatches: Sequence[ComparedRow],
    agreeing: Sequence[ComparedRow] = (),
    seconds: float = SECONDS,
) -> Diagnosis:
    """Try every single change that the project knows.

    A change is the cause where it gives the design's result for every mismatch, and leaves golden's for the rows that agreed
    (or gives theirs). All that is said of rows is said of those that are given here.

    Args:
        model: what the design should be; of a tile its instruction.
        mismatches: rows that differ. Those with undefined bits are left out.
        agreeing: rows that do not.
        seconds: after which no other change is tried.
    """
    defined = [place for place, row in enumerate(mismatches) if isinstance(row.got, int)]
    known = [row for row in agreeing if isinstance(row.got, int)]
    if not defined:
        return Diagnosis.nothing(len(mismatches))
    K = len(mismatches[defined[0]].a)
    golden_model = Model.of(model, K)
    failing, kept = golden_model.rows([mismatches[place] for place in defined], K), golden_model.rows(known, K)
    trial = _Trial(golden_model, failing, kept)
    until, tried, left_out = time.monotonic() + seconds, 0, 0
    for change in _changes(golden_model, failing, K):
        if time.monotonic() > until:
            left_out += 1
            continue
        tried += 1
        trial.of(change)
    return trial.diagnosis(len(mismatches), defined, tried, left_out)


def _changes(model: Model, failing: Rows, K: int) -> Iterator[Change]:
    """All changes, the likelier ones first: of several that explain as much, the first is told."""
    return chained(parameter_changes(model), step_changes(model), operand_changes(model, K), result_changes(model, failing))


@dataclass(frozen=True)
class _Tried:
    """A change that explains something: where it gives the design's results, of how many mismatches that were tried, and how
    many of how many agreeing rows it keeps."""

    change: Change
    explains: Codes
    mismatches: int
    kept: int
    agreeing: int


class _Trial:
    """Tries changes on the rows of a run."""

    def __init__(self, model: Model, failing: Rows, agreeing: Rows) -> None:
        self._model, self._failing, self._agreeing = model, failing, agreeing
        self._probe = failing.of(_spread(len(failing), PROBE))
        self._found: list[_Tried] = []

    def of(self, change: Change) -> None:
        """Note a change that explains one of the probe's mismatches."""
        if not self._same(change, self._probe).any():
            return
        tried = self._on(change, SAMPLE)
        self._found.append(self._on(change, None) if tried.kept == tried.agreeing else tried)

    def _on(self, change: Change, limit: int | None) -> _Tried:
        """The change on so many mismatches and rows that agreed, spread over all of them."""
        failing, agreeing = (_spread(len(rows), limit) for rows in (self._failing, self._agreeing))
        explains = np.zeros(len(self._failing), bool)
        explains[failing] = self._same(change, self._failing.of(failing))
        kept = self._kept(change, self._agreeing.of(agreeing))
        return _Tried(change, explains, len(failing), kept, len(agreeing))

    def _same(self, change: Change, rows: Rows) -> Codes:
        """Where the change gives what the design gave."""
        same: Codes = ~self._differing(change.results(rows), rows.got)
        return same

    def _kept(self, change: Change, rows: Rows) -> int:
        """How many rows that agreed would still: the change gives the design's result, or golden's, which was as good."""
        if not len(rows):
            return 0
        results = change.results(rows)
        return int((~self._differing(results, rows.got) | ~self._differing(results, rows.expected)).sum())

    def _differing(self, results: Codes, codes: Codes) -> Codes:
        found: Codes = differing(results, codes, self._model.operation)
        return found

    def diagnosis(self, mismatches: int, places: Sequence[int], tried: int, left_out: int) -> Diagnosis:
        """What was found, the best first."""
        ranked = sorted(self._found, key=lambda t: (t.kept < t.agreeing, -int(t.explains.sum())))
        causes = [Cause(t.change.words, int(t.explains.sum()), t.mismatches, t.kept, t.agreeing) for t in ranked]
        complete = tuple(cause for cause in causes if cause.is_complete)
        best = () if complete else _best(causes)
        of: list[str | None] = [None] * mismatches
        for number, place in enumerate(places):
            of[place] = next((t.change.words for t in ranked if t.explains[number] and t.kept == t.agreeing), None)
        return Diagnosis(
            mismatches=mismatches, undefined=mismatches - len(places), causes=complete, best=best, of=tuple(of), tried=tried,
            left_out=left_out,
        )  # fmt: skip


def _best(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Those that keep all rows that agreed, and then near misses: those that explain most mismatches and do not."""
    fitting = [cause for cause in causes if cause.kept == cause.agreeing][:SHOWN]
    near = [cause for cause in causes if cause.kept < cause.agreeing and 2 * cause.explained > cause.mismatches]
    near.sort(key=lambda cause: (cause.explained / cause.mismatches, cause.kept / cause.agreeing), reverse=True)
    return (*fitting, *near[:NEAR_MISSES])


def _spread(count: int, limit: int | None) -> Codes:
    """Places of so many of `count` rows at even distances; None for all."""
    if limit is None or count <= limit:
        return np.arange(count)
    return np.linspace(0, count - 1, limit).astype(int)
