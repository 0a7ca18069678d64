"""The explanation of a run's mismatches: their diagnosis, the first mismatch minimised, and the model's trace for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.groups import Group
from cosim.bench.minimise import Minimised
from cosim.bench.mismatch import ComparedRow
from cosim.bench.mismatch_text import described_result
from cosim.bench.verdict import Outcome
from cosim.diagnosis import Diagnosis, diagnose
from cosim.diagnosis.late_operands import late_operand
from cosim.diagnosis.shifted import moved, shift_of
from golden import Instruction, Trace, Unit
from golden.arrays import bits_dtype
from golden.html import Markup, element, joined
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

Model = Unit | Instruction

TRACED = 10
"""Groups of mismatches for whose first mismatch a trace is made too."""

DIAGNOSED = 2000
"""Mismatches that a diagnosis examines, beside those recorded in groups."""


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
    models: Mapping[str, Model], wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow], latency: int | None
) -> str | None:
    """That each result, or one of its operands, is that of another vector or element; None where it is not so."""
    shift = shift_of(wrong, agreeing)
    if shift is not None:
        return shift.text(latency)
    if len(models) > 1:  # neighbours may be of other formats
        return moved(wrong, agreeing)
    (model,) = models.values()
    return moved(wrong, agreeing) or late_operand(model, wrong[:DIAGNOSED], agreeing)


def models_of(design: Design) -> dict[str, Model]:
    """Golden's model of each kind of dot product of a design, by the name of its rows."""
    if isinstance(design, MultiFormatDesign):
        return {f"format {number} ({unit.name})": unit for number, unit in enumerate(design.units)}
    if isinstance(design, TileDesign):
        return {"": design.instruction}
    assert isinstance(design, UnitDesign)
    return {"": design.unit}


def trace_of(model: Model, row: ComparedRow) -> Trace:
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
