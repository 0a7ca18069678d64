"""The explanation of mismatches: the change of the model that gives the design's results, and the trace of the first
mismatch."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.mismatch import ComparedRow, Group, Minimised
from cosim.bench.products import described_result
from cosim.bench.scoreboard import Outcome
from cosim.diagnosis.mismatch_places import Located, lane_of, late_operand, moved, place_of, rows_of, shift_of
from golden import Instruction, Operation, Trace, Unit, html
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.html import Markup, element, joined
from golden.variants import Codes, Model, Rows, Variant, variants
from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign

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
        best: without a cause, a few changes one after the other, each made to a model that has those before it. The model
            that has all of them contradicts no agreeing row. `mismatches` of each counts those that the changes before it
            leave.
        of: for each mismatch the change that explains it, or None.
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
            lines += self._in_turn() if self.best else []
        lines += [f"  {text}" for text in self.located]
        if self.undefined and self.undefined < self.mismatches:
            lines.append(f"  {self.undefined:,} mismatches with undefined bits are left out")
        if self.left_out:
            lines.append(f"  {self.left_out:,} further changes were not tried: the time was up")
        return lines

    def _in_turn(self) -> list[str]:
        """The changes that explain mismatches one after the other."""
        left = self.best[-1].mismatches - self.best[-1].explained
        lines = ["  several explain a part, one after the other:" if left else "  these do together, one after the other:"]
        for number, cause in enumerate(self.best):
            broken = cause.agreeing - cause.kept
            breaks = f"{broken:,} agreeing rows, until those after it are made" if broken else "no agreeing row"
            which = f"then {cause.change}" if number else cause.change
            are_left = " that are left" if number else ""
            lines.append(f"  {which}: explains {cause.explained:,} of {cause.mismatches:,}{are_left}, and breaks {breaks}")
        return [*lines, f"  {left:,} are left unexplained"] if left else lines

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

KINDS = 4
"""Largest number of kinds of dot product, as choices of `[controls]` or lengths, that are diagnosed; more than two share the
time of two."""

IN_TURN = 4
"""How many times that long changes on top of others are tried, where no single one explains everything."""

SAMPLE = 200
"""Number of mismatches and of agreeing rows on which a change is tried next."""

PARTS = 10
"""Largest number of changes that are named one after the other, where no single one explains all mismatches."""

NEAR, FULL = 24, 3
"""Numbers of changes on top of others that are tried on a sample, and on all rows."""

LEAST = 3
"""Smallest number of mismatches that each of several changes must explain and the changes before it do not."""


def diagnose(
    model: Operation | Unit | Instruction,
    mismatches: Sequence[ComparedRow],
    agreeing: Sequence[ComparedRow] = (),
    seconds: float = SECONDS,
) -> Diagnosis:
    """Try every known single change of the model; where none explains everything, changes one on top of the other.

    A change is the cause where it gives the design's result for every mismatch, and leaves golden's for the rows that agreed
    (or gives theirs). The diagnosis counts the rows that are given here, no others. Where nothing explains the mismatches,
    and all of them are in one element, row or column of the results, the rows that agreed elsewhere do not count: there the
    design may be right.

    Args:
        model: the specification of the design; for a tile its instruction.
        mismatches: rows that differ. Those with undefined bits are left out.
        agreeing: rows that do not.
        seconds: time after which no further single change is tried, and `IN_TURN` times that for changes on top of others.
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
    trial = _Trial(golden_model, failing, kept, seconds)
    found = trial.diagnosis(len(mismatches), defined)
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

    @property
    def broken(self) -> int:
        """Agreeing rows that no longer agree."""
        return self.agreeing - self.kept

    def cause(self) -> Cause:
        """The change with its numbers."""
        return Cause(self.variant.words, int(self.explains.sum()), self.mismatches, self.kept, self.agreeing)


class _Trial:
    """Tries changes on the rows of a run."""

    def __init__(self, model: Model, failing: Rows, agreeing: Rows, seconds: float) -> None:
        self._model, self._failing, self._agreeing, self._seconds = model, failing, agreeing, seconds
        self._left_out = 0

    def diagnosis(self, mismatches: int, places: Sequence[int]) -> Diagnosis:
        """The findings, the best first.

        Args:
            mismatches: number of mismatches. places: those of them that are tried.
        """
        first = _Round(self, self._model, np.zeros(len(self._failing), bool))
        probed, tried = self._probed(first, time.monotonic() + self._seconds)
        found = [self._on(variant, first, SAMPLE) for variant in probed]
        full = [self._on(each.variant, first, None) for each in found if each.cause().is_complete]
        causes = tuple(each.cause() for each in full if each.cause().is_complete)
        of: list[str | None] = [None] * mismatches
        best: tuple[Cause, ...] = ()
        named: Sequence[str | None] = [causes[0].change if causes else None] * len(places)
        if not causes:
            until = time.monotonic() + self._seconds * IN_TURN
            best, named = self._in_turn(first, found, until, lenient=True)
            if not best:
                best, named = self._in_turn(first, found, until, lenient=False)
        for place, words in zip(places, named, strict=True):
            of[place] = words
        return Diagnosis(
            mismatches=mismatches, undefined=mismatches - len(places), causes=causes, best=best, of=tuple(of), tried=tried,
            left_out=self._left_out,
        )  # fmt: skip

    def _probed(self, at: "_Round", until: float) -> tuple[list[Variant[Rows]], int]:
        """The changes of a model that explain one of the first mismatches that are left, those that explain most first; how
        many changes were tried."""
        probe = at.failing.of(at.left[_spread(len(at.left), PROBE)])
        found, tried = [], 0
        for variant in variants(at.model, at.failing.of(at.left), self._failing.a.shape[1]):
            if time.monotonic() > until:
                self._left_out += 1
                continue
            tried += 1
            same = int(self._same(variant, probe).sum())
            if same:
                found.append((same, variant))
        return [variant for _, variant in sorted(found, key=lambda pair: -pair[0])], tried

    def _on(self, variant: Variant[Rows], at: "_Round", limit: int | None) -> _Tried:
        """Try the change on a number of the mismatches that are left and of those that are explained, and of agreeing rows,
        spread evenly over all of them; None for all."""
        failing = np.concatenate([rows[_spread(len(rows), limit)] for rows in (at.left, at.explained)])
        agreeing = _spread(len(self._agreeing), limit)
        explains = np.zeros(len(self._failing), bool)
        explains[failing] = self._same(variant, at.failing.of(failing))
        kept = self._kept(variant, at.agreeing.of(agreeing), self._agreeing.expected[agreeing])
        return _Tried(variant, explains, len(failing), kept, len(agreeing))

    def _same(self, variant: Variant[Rows], rows: Rows) -> Codes:
        """The rows in which the change gives the design's result."""
        same: Codes = ~self._differing(variant.results(rows), rows.got)
        return same

    def _kept(self, variant: Variant[Rows], rows: Rows, expected: Codes) -> int:
        """The number of agreeing rows that still agree: the change gives the design's result, or golden's."""
        if not len(rows):
            return 0
        results = variant.results(rows)
        return int((~self._differing(results, rows.got) | ~self._differing(results, expected)).sum())

    def _differing(self, results: Codes, codes: Codes) -> Codes:
        found: Codes = differing(results, codes, self._model.operation)
        return found

    def _in_turn(
        self, at: "_Round", found: Sequence[_Tried], until: float, lenient: bool
    ) -> tuple[tuple[Cause, ...], list[str | None]]:
        """Changes one on top of the other, each the one that explains most of the mismatches that are left. The model of all
        of them contradicts no agreeing row; any other is wrong somewhere, and no hint.

        Args:
            at: the rows and the model. found: its changes, tried on some rows.
            lenient: whether a change may break agreeing rows that later ones mend.

        Returns:
            The changes, and the words of the one that explains each mismatch.
        """
        chosen, broken = list[Cause](), 0
        named: list[str | None] = [None] * len(self._failing)
        sound = (tuple(chosen), named)
        while len(chosen) < PARTS and len(at.left) and time.monotonic() < until:
            best = self._best(at, found, broken, lenient)
            if best is None:
                break
            new = best.explains & ~at.is_explained
            chosen.append(replace(best.cause(), explained=int(new.sum()), mismatches=len(at.left)))
            assert best.variant.model is not None
            broken = best.broken
            at = _Round(self, best.variant.model, best.explains)
            named = [
                (best.variant.words if is_new else words) if explained else None
                for is_new, explained, words in zip(new, at.is_explained, named, strict=True)
            ]
            if not broken:
                sound = (tuple(chosen), named)
            if len(at.left):
                found = [self._on(variant, at, SAMPLE) for variant in self._probed(at, until)[0][:NEAR]]
        return sound

    def _best(self, at: "_Round", found: Sequence[_Tried], broken: int, lenient: bool) -> _Tried | None:
        """The change that makes most rows right, tried on all; None if none does so for several.

        Args:
            broken: agreeing rows that the model breaks already.
        """

        def gain(tried: _Tried) -> float:
            explained = tried.explains[at.left].sum() - (~tried.explains[at.explained]).sum()
            return float(explained) - tried.broken + broken

        candidates = [each for each in found if each.variant.model is not None and (lenient or not each.broken)]
        best: _Tried | None = None
        for each in sorted(candidates, key=lambda each: -self._share(each, at))[:FULL]:
            tried = self._on(each.variant, at, None)
            if (lenient or not tried.broken) and gain(tried) >= LEAST and (best is None or gain(tried) > gain(best)):
                best = tried
        return best

    def _share(self, tried: _Tried, at: "_Round") -> float:
        """The share of the mismatches left that a change explains, less those of explained and agreeing rows that it
        breaks, each weighted by its number."""
        left, explained = len(at.left), len(at.explained)
        lost = 1 - tried.explains[at.explained].sum() / max(min(explained, SAMPLE), 1) if explained else 0.0
        gained = tried.explains[at.left].sum() / max(min(left, SAMPLE), 1)
        return float(left * gained - explained * lost) - len(self._agreeing) * tried.broken / max(tried.agreeing, 1)


class _Round:
    """A model with some changes, and the rows of a run with its results as what is expected.

    Attributes:
        is_explained: for each mismatch whether the model explains it. left, explained: indices of those of either kind.
    """

    def __init__(self, trial: _Trial, model: Model, is_explained: Codes) -> None:
        is_changed = model is not trial._model
        self.model, self.is_explained = model, is_explained
        self.failing, self.agreeing = (
            replace(rows, expected=model.results(rows)) if is_changed else rows for rows in (trial._failing, trial._agreeing)
        )
        self.left, self.explained = np.flatnonzero(~is_explained), np.flatnonzero(is_explained)


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
        of_groups: golden's steps for the first mismatch of each of the first groups; None where no model computes it.
        shift: says that each result, or one of its operands, is that of another vector or element, and then there are no
            diagnoses; or None.
        left_out: names of dot products that differ too, and of which there is no diagnosis, since `KINDS` others have one.
    """

    diagnoses: Mapping[str, Diagnosis]
    elements: int
    shown: Minimised
    trace: Trace
    of_groups: tuple[Trace | None, ...]
    shift: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def has_one_cause(self) -> bool:
        """Whether a shift explains the mismatches, or one change all of them of each kind of dot product."""
        have_causes = (each.cause is not None and not each.undefined for each in self.diagnoses.values())
        return self.shift is not None or (all(have_causes) and not self.left_out)

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
        lines = [f"  {covered}, the first ones of every group among them"]
        if self.left_out:
            others = f" and {len(self.left_out) - 1} others that differ" if self.left_out[1:] else ""
            lines.append(f"  not diagnosed, since {len(self.diagnoses)} kinds are: {self.left_out[0]}{others}")
        return lines

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

    def of_models(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
        """The rows that a model computes, which those of a returned input are not, without idle products."""
        return [_counted(row, design.mask) for row in rows if row.products in models]

    wrong, agreeing = of_models(outcome.differing), of_models(outcome.agreeing)
    if not wrong:
        return None
    diagnoses = {}
    differing = of_models(to_diagnose(outcome.differing, outcome.groups))
    shift = _shift(models, wrong, agreeing, latency)
    met = {row.products for row in differing}
    wrong_kinds = [name for name in models if name in met] if shift is None else []
    wanted = wrong_kinds[:KINDS]
    for name in wanted:
        rows, others = ([row for row in of if row.products == name] for of in (differing, agreeing))
        diagnoses[name] = diagnose(models[name], rows, others, SECONDS * min(1, 2 / len(wanted)))
    shown = minimised or Minimised(row=wrong[0], reproduced=False, asked=0, note="not minimised")
    shown = replace(shown, row=_counted(shown.row, design.mask))
    elements = sum(group.count for group in outcome.groups)
    trace = trace_of(models[shown.row.products], shown.row)
    firsts = [of_models(group.mismatches[:1]) for group in outcome.groups[:TRACED]]
    of_groups = tuple(trace_of(models[rows[0].products], rows[0]) if rows else None for rows in firsts)
    return Explanation(diagnoses=diagnoses, elements=elements, shown=shown, trace=trace, of_groups=of_groups,
        shift=shift, left_out=tuple(wrong_kinds[KINDS:]),
    )  # fmt: skip


def _counted(row: ComparedRow, mask: str) -> ComparedRow:
    """A row with +0 · +0 in the place of each product that its mask leaves out."""
    if not mask:
        return row
    a, b = (tuple(code * bit for code, bit in zip(codes, row.ports[mask], strict=True)) for codes in (row.a, row.b))
    return replace(row, a=a, b=b)


def _shift(
    models: Mapping[str, Specified], wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow], latency: int | None
) -> str | None:
    """Say where results belong that are right but misplaced: each result, or one of its operands, is that of another vector
    or element. None where that explains nothing."""
    shift = shift_of(wrong, agreeing)
    if shift is not None:
        return shift.text(latency)
    if len(models) > 1:  # neighbours may be of other formats
        return moved(wrong, agreeing)
    (model,) = models.values()
    return moved(wrong, agreeing) or late_operand(model, wrong[:DIAGNOSED], agreeing)


def models_of(design: Design) -> dict[str, Specified]:
    """Golden's model of each kind of dot product of a design, by the name of its rows."""
    if isinstance(design, TileDesign):
        return {"": design.instruction}
    if design.further:  # no change of a model takes random bits or zero points
        return {}
    return {choice.name: choice.unit for choice in design.choices}


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
