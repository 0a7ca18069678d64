"""The explanation of mismatches: the change of the model that gives the design's results, and the trace of the first
mismatch."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.minimise import Minimised
from cosim.bench.mismatch import ComparedRow, Group
from cosim.bench.products import described_result
from cosim.bench.scoreboard import Outcome
from cosim.diagnosis.late_operands import late_operand
from cosim.diagnosis.mismatch_places import Located, lane_of, place_of, rows_of
from cosim.diagnosis.shifted import moved, shift_of
from golden import Instruction, Operation, Trace, Unit, html
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.html import Markup, element, joined
from golden.variants import Codes, Model, Rows, Variant, variants
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

ALTERNATIVES = 4
"""Number of further changes named if several explain everything."""


@dataclass(frozen=True)
class Cause:
    """A single change of the model, and the rows that it explains.

    Attributes:
        change: its description.
        explained: number of mismatches for which it gives the design's result. mismatches: number tried.
        kept: number of agreeing rows that still agree with it. agreeing: number tried.
    """

    change: str
    explained: int
    mismatches: int
    kept: int
    agreeing: int

    @property
    def is_complete(self) -> bool:
        """Whether the change explains every mismatch and contradicts no agreeing row."""
        return self.explained == self.mismatches and self.kept == self.agreeing

    def __str__(self) -> str:
        if self.is_complete:
            agreed = f" and all {self.agreeing:,} agreeing rows sampled" if self.agreeing else ""
            return f"{self.change}: explains all {self.mismatches:,} mismatches{agreed}"
        return f"{self.change}: explains {self.explained:,} of {self.mismatches:,}"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The changes of the model that explain a design's mismatches.

    Attributes:
        mismatches: number examined. undefined: number of these with bits that are neither 0 nor 1.
        causes: changes that explain all of them and contradict no agreeing row. The first is the diagnosis; the rows do not
            distinguish the others from it.
        best: without a cause, a few changes that explain all mismatches together, and contradict no agreeing row either.
        of: for each mismatch the first of these that explains it, or None.
        tried: number of changes that were tried. left_out: number of changes for which no time was left.
        where: the element, row or column of the results in which all mismatches are, where the causes hold there alone; the
            agreeing rows are then those in it.
        located: further sentences on where the mismatches are.
    """

    mismatches: int
    undefined: int
    causes: tuple[Cause, ...]
    best: tuple[Cause, ...]
    of: tuple[str | None, ...]
    tried: int
    left_out: int
    where: str | None = None
    located: tuple[str, ...] = ()

    @classmethod
    def nothing(cls, mismatches: int) -> "Diagnosis":
        """The diagnosis of mismatches that all have undefined bits."""
        none: Any = ()
        return cls(
            mismatches=mismatches, undefined=mismatches, causes=none, best=none, of=(None,) * mismatches, tried=0, left_out=0
        )

    @property
    def cause(self) -> Cause | None:
        """The change that explains everything; None if there is none."""
        return self.causes[0] if self.causes else None

    def lines(self) -> list[str]:
        """The findings, one line each."""
        if self.causes:
            others = [cause.change for cause in self.causes[1:]]
            lines = [f"diagnosis: {'' if self.where is None else f'in {self.where}: '}{self.causes[0]}"]
            if others:
                more = f", and {len(others) - ALTERNATIVES} more" if len(others) > ALTERNATIVES else ""
                lines.append(f"  these vectors cannot tell it from: {'; '.join(others[:ALTERNATIVES])}{more}")
        elif self.undefined == self.mismatches:
            lines = ["diagnosis: none, for every result has bits that are neither 0 nor 1"]
        else:
            lines = [f"diagnosis: no single change of the model explains all mismatches ({self.tried:,} tried)"]
            lines += ["  these do together:", *(f"  {cause}" for cause in self.best)] if self.best else []
        lines += [f"  {text}" for text in self.located]
        if self.undefined and self.undefined < self.mismatches:
            lines.append(f"  {self.undefined:,} mismatches with undefined bits are left out")
        if self.left_out:
            lines.append(f"  {self.left_out:,} further changes were not tried: the time was up")
        return lines

    def text(self) -> str:
        """The diagnosis as text for a terminal."""
        return "\n".join(self.lines())

    def html_body(self) -> Markup:
        """The diagnosis as HTML for a page that has `golden.html.STYLE`."""
        first, *rest = self.lines()
        return html.joined([element("p", first), element("ul", *(element("li", line.strip()) for line in rest))])

    def as_dict(self) -> dict[str, Any]:
        """The diagnosis as plain JSON."""
        return asdict(self)


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
"""Smallest number of mismatches that each of several changes must explain and the changes before it do not."""


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
        seconds: time after which no further change is tried.
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
        """Try the change on a number of mismatches and agreeing rows, spread evenly over all of them."""
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
    """Indices of some of `count` rows at even distances; None selects all."""
    if limit is None or count <= limit:
        return np.arange(count)
    return np.linspace(0, count - 1, limit).astype(int)


Specified = Unit | Instruction

TRACED = 10
"""Groups of mismatches for whose first mismatch a trace is made too."""

DIAGNOSED = 2000
"""Number of mismatches that a diagnosis examines, besides the mismatches recorded in groups."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The explanation of a run's mismatches.

    Attributes:
        diagnoses: a diagnosis for each name of dot products (`ComparedRow.products`): one for each format of a multi-format
            datapath, else one with an empty name.
        elements: number of elements that differ; above `DIAGNOSED` only some of them are diagnosed.
        shown: the mismatch that is traced: the first one, minimised where possible.
        trace: golden's steps for it.
        of_groups: golden's steps for the first mismatch of each of the first groups.
        shift: says that each result, or one of its operands, is that of another vector or element, and then there are no
            diagnoses; or None.
    """

    diagnoses: Mapping[str, Diagnosis]
    elements: int
    shown: Minimised
    trace: Trace
    of_groups: tuple[Trace, ...]
    shift: str | None = None

    @property
    def has_one_cause(self) -> bool:
        """Whether a shift explains the mismatches, or one change all of them of each kind of dot product."""
        have_causes = (each.cause is not None and not each.undefined for each in self.diagnoses.values())
        return self.shift is not None or all(have_causes)

    def lines(self) -> list[str]:
        """The explanation as text for a terminal."""
        return [*self.verdict(), "", *self.shown_lines()]

    def verdict(self) -> list[str]:
        """The diagnosis as text."""
        if self.shift is not None:
            return [f"diagnosis: {self.shift}"]
        lines = [f"{name}: {line}" if name else line for name, each in self.diagnoses.items() for line in each.lines()]
        return [*lines, *self._undiagnosed()]

    def shown_lines(self) -> list[str]:
        """The first mismatch in full: the model's steps and the design's result."""
        return [f"first mismatch, {self.shown.note}", "", *self.trace.text().splitlines(), *self._results()]

    def _undiagnosed(self) -> list[str]:
        """State how many mismatches were diagnosed, where not all were."""
        diagnosed = sum(diagnosis.mismatches for diagnosis in self.diagnoses.values())
        if diagnosed == self.elements:
            return []
        covered = f"diagnosed {diagnosed:,} of the {self.elements:,} elements that differ"
        return [f"  {covered}, the first ones of every group among them"]

    def _results(self) -> list[str]:
        row, d = self.shown.row, self.trace.format
        return [f"  expected     {d.describe(row.expected)}", f"  got          {described_result(row.got, d)}"]

    def html_body(self) -> Markup:
        """The explanation as a part of an HTML page with `golden.html.STYLE`."""
        parts = [element("h3", "Diagnosis"), *([] if self.shift is None else [element("p", self.shift)])]
        for name, diagnosis in self.diagnoses.items():
            parts += [element("h4", name)] if name else []
            parts.append(diagnosis.html_body())
        parts += [element("p", line.strip()) for line in self._undiagnosed()]
        results = "\n".join(line.strip() for line in self._results())
        shown = [element("h3", "First mismatch"), element("p", self.shown.note), element("pre", results, tabindex="0")]
        return joined([*parts, *shown, self.trace.html_body(below=2)])

    def as_dict(self) -> dict[str, Any]:
        """The explanation for JSON."""
        diagnoses = {name: diagnosis.as_dict() for name, diagnosis in self.diagnoses.items()}
        return {
            "shift": self.shift,
            "diagnoses": diagnoses,
            "elements": self.elements,
            "first": self.shown.as_dict(),
            "trace": self.trace.as_dict(),
        }


def to_diagnose(rows: Sequence[ComparedRow], groups: Sequence[Group]) -> list[ComparedRow]:
    """The rows that a diagnosis examines: the first ones, and those recorded in groups."""
    recorded = {(row.vector, row.place) for group in groups for row in group.mismatches}
    return [row for number, row in enumerate(rows) if number < DIAGNOSED or (row.vector, row.place) in recorded]


def explanation_of(
    outcome: Outcome, minimised: Minimised | None, design: Design, latency: int | None = None
) -> Explanation | None:
    """Explain the mismatches of a run; None where there are none.

    Args:
        latency: the design's latency by its description (cycles), None where its results have a valid signal.
    """
    if not outcome.differing:
        return None
    models = models_of(design)
    diagnoses = {}
    differing = to_diagnose(outcome.differing, outcome.groups)
    shift = _shift(models, outcome.differing, outcome.agreeing, latency)
    for name, model in models.items() if shift is None else ():
        rows = [row for row in differing if row.products == name]
        if rows:
            diagnoses[name] = diagnose(model, rows, [row for row in outcome.agreeing if row.products == name])
    first = outcome.differing[0]
    shown = minimised or Minimised(row=first, reproduced=False, asked=0, note="not minimised")
    elements = sum(group.count for group in outcome.groups)
    trace = trace_of(models[shown.row.products], shown.row)
    firsts = [group.mismatches[0] for group in outcome.groups[:TRACED]]
    of_groups = tuple(trace_of(models[row.products], row) for row in firsts)
    return Explanation(diagnoses=diagnoses, elements=elements, shown=shown, trace=trace, of_groups=of_groups,
        shift=shift,
    )  # fmt: skip


def _shift(
    models: Mapping[str, Specified], wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow], latency: int | None
) -> str | None:
    """That each result, or one of its operands, is that of another vector or element; None where it is not so."""
    shift = shift_of(wrong, agreeing)
    if shift is not None:
        return shift.text(latency)
    if len(models) > 1:  # neighbours may be of other formats
        return moved(wrong, agreeing)
    (model,) = models.values()
    return moved(wrong, agreeing) or late_operand(model, wrong[:DIAGNOSED], agreeing)


def models_of(design: Design) -> dict[str, Specified]:
    """Golden's model of each kind of dot product of a design, by the name of its rows."""
    if isinstance(design, MultiFormatDesign):
        return {f"format {number} ({unit.name})": unit for number, unit in enumerate(design.units)}
    if isinstance(design, TileDesign):
        return {"": design.instruction}
    assert isinstance(design, UnitDesign)
    return {"": design.unit}


def trace_of(model: Specified, row: ComparedRow) -> Trace:
    """The trace of golden's steps for a row."""
    scale = model.scale
    scales = [
        None if scale is None or codes is None else np.array(codes, bits_dtype(scale))
        for codes in (row.scale_a, row.scale_b)
    ]
    c = np.array(row.c, bits_dtype(model.c))
    return model.explain(np.array(row.a, bits_dtype(model.a)), np.array(row.b, bits_dtype(model.b)), c, scales[0], scales[1])


def diagnosed(groups: Sequence[Group], rows: Sequence[ComparedRow], explanation: Explanation) -> tuple[Group, ...]:
    """Add to each group the diagnoses of its recorded mismatches."""
    changes: dict[tuple[int, str], str | None] = {}
    rows = to_diagnose(rows, groups)
    for name, diagnosis in explanation.diagnoses.items():
        of_name = [row for row in rows if row.products == name]
        changes |= {(row.vector, row.place): change for row, change in zip(of_name, diagnosis.of, strict=True)}
    found = []
    for group in groups:
        known = [changes.get((row.vector, row.place)) for row in group.mismatches]
        found.append(replace(group, diagnoses=dict(Counter(change for change in known if change is not None))))
    return tuple(found)
