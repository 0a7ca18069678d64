"""Why a design differs: the diagnosis of its mismatches, the first one minimised, and the model's trace beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.groups import Group
from cosim.bench.minimise import Minimised
from cosim.bench.mismatch import ComparedRow
from cosim.bench.outcome import Outcome
from cosim.bench.rows import described_result
from cosim.diagnosis import Diagnosis, diagnose
from golden import Instruction, Trace, Unit
from golden.arrays import bits_dtype
from golden.html import Markup, element, joined
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

Model = Unit | Instruction

TRACED = 10
"""Groups of mismatches whose first one is traced too."""

DIAGNOSED = 2000
"""Mismatches that a diagnosis looks at, beside those recorded in groups."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What is known of a run's mismatches.

    Attributes:
        diagnoses: by name of the dot products, as `ComparedRow.products`; one, under an empty name, but of several formats.
        elements: how many elements of results differ; of more than `DIAGNOSED` only some are diagnosed.
        shown: the mismatch that is traced: the first one, minimised where that was possible.
        trace: golden's steps for it.
        of_groups: golden's steps for the first mismatch of each of the first groups.
    """

    diagnoses: Mapping[str, Diagnosis]
    elements: int
    shown: Minimised
    trace: Trace
    of_groups: tuple[Trace, ...]

    @property
    def has_one_cause(self) -> bool:
        """Whether one change explains all mismatches of each kind of dot product."""
        return all(diagnosis.cause is not None and not diagnosis.undefined for diagnosis in self.diagnoses.values())

    def lines(self) -> list[str]:
        """For a terminal."""
        return [*self.verdict(), "", *self.shown_lines()]

    def verdict(self) -> list[str]:
        """The diagnosis."""
        lines = [f"{name}: {line}" if name else line for name, each in self.diagnoses.items() for line in each.lines()]
        return [*lines, *self._left_out()]

    def shown_lines(self) -> list[str]:
        """One mismatch in full: the model's steps, and what the design gave."""
        return [f"first mismatch, {self.shown.note}", "", *self.trace.text().splitlines(), *self._results()]

    def _left_out(self) -> list[str]:
        """What is not said of all mismatches."""
        diagnosed = sum(diagnosis.mismatches for diagnosis in self.diagnoses.values())
        if diagnosed == self.elements:
            return []
        kept = f"{diagnosed:,} of the {self.elements:,} elements that differ were looked at for this"
        return [f"  {kept}, the first ones of every group among them"]

    def _results(self) -> list[str]:
        row, d = self.shown.row, self.trace.format
        return [f"  expected     {d.describe(row.expected)}", f"  got          {described_result(row.got, d)}"]

    def html_body(self) -> Markup:
        """For a page that has `golden.html.STYLE`."""
        parts = [element("h3", "Diagnosis")]
        for name, diagnosis in self.diagnoses.items():
            parts += [element("h4", name)] if name else []
            parts.append(diagnosis.html_body())
        parts += [element("p", line.strip()) for line in self._left_out()]
        results = "\n".join(line.strip() for line in self._results())
        shown = [element("h3", "First mismatch"), element("p", self.shown.note), element("pre", results, tabindex="0")]
        return joined([*parts, *shown, self.trace.html_body(below=2)])

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        diagnoses = {name: diagnosis.as_dict() for name, diagnosis in self.diagnoses.items()}
        return {
            "diagnoses": diagnoses,
            "elements": self.elements,
            "first": self.shown.as_dict(),
            "trace": self.trace.as_dict(),
        }


def to_diagnose(rows: Sequence[ComparedRow], groups: Sequence[Group]) -> list[ComparedRow]:
    """The rows that a diagnosis looks at: the first ones, and those recorded in groups."""
    recorded = {(row.vector, row.place) for group in groups for row in group.mismatches}
    return [row for number, row in enumerate(rows) if number < DIAGNOSED or (row.vector, row.place) in recorded]


def explanation_of(outcome: Outcome, minimised: Minimised | None, design: Design) -> Explanation | None:
    """Why the results of a run differ; None where none does."""
    if not outcome.differing:
        return None
    models = models_of(design)
    diagnoses = {}
    differing = to_diagnose(outcome.differing, outcome.groups)
    for name, model in models.items():
        rows = [row for row in differing if row.products == name]
        if rows:
            diagnoses[name] = diagnose(model, rows, [row for row in outcome.agreeing if row.products == name])
    first = outcome.differing[0]
    shown = minimised or Minimised(row=first, reproduced=False, asked=0, note="as it came")
    elements = sum(group.count for group in outcome.groups)
    trace = trace_of(models[shown.row.products], shown.row)
    firsts = [group.mismatches[0] for group in outcome.groups[:TRACED]]
    of_groups = tuple(trace_of(models[row.products], row) for row in firsts)
    return Explanation(diagnoses=diagnoses, elements=elements, shown=shown, trace=trace, of_groups=of_groups)


def models_of(design: Design) -> dict[str, Model]:
    """Golden's model of each kind of dot product of a design, by the name that its rows have."""
    if isinstance(design, MultiFormatDesign):
        return {f"format {number} ({unit.name})": unit for number, unit in enumerate(design.units)}
    if isinstance(design, TileDesign):
        return {"": design.instruction}
    assert isinstance(design, UnitDesign)
    return {"": design.unit}


def trace_of(model: Model, row: ComparedRow) -> Trace:
    """Golden's steps for a row."""
    operation = model.operation
    a, b = (model.a, model.b) if isinstance(model, Instruction) else (operation.a, operation.b)
    scale = operation.scale_format
    scales = [
        None if scale is None or codes is None else np.array(codes, bits_dtype(scale))
        for codes in (row.scale_a, row.scale_b)
    ]
    c = np.array(row.c, bits_dtype(operation.c))
    return model.explain(np.array(row.a, bits_dtype(a)), np.array(row.b, bits_dtype(b)), c, scales[0], scales[1])


def diagnosed(groups: Sequence[Group], rows: Sequence[ComparedRow], explanation: Explanation) -> tuple[Group, ...]:
    """The groups with the diagnoses of their recorded mismatches."""
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
