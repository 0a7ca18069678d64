"""What the campaign proves: designs of several kinds, and for each kind what makes its questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import golden
from cosim.regressions.main_job import main_units
from formal.obligations.units import NotProvable, Question
from formal.pipelines.questions import assumed, datapath_questions, pipeline_questions
from formal.pipelines.subjects import pipeline_subjects
from formal.ways import each_way
from formal.whole import whole_questions, whole_subjects
from golden import Implementation, Unit
from golden.unit import ENCODINGS
from jobs.contents import design_key
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign

Questions = Callable[[Design, str], list[Question]]
"""The questions of a design and of its Verilog, whose top module is called `unit`: where all of them are answered with
never, the Verilog is what the design should be, for all inputs. Raises NotProvable."""


def nothing_assumed(design: Design) -> tuple[str, ...]:
    """Nothing."""
    return ()


@dataclass(frozen=True)
class Kind:
    """How designs of one kind are proved.

    Attributes:
        questions: see `Questions`. assumed: what the proof of a design takes for granted of its surroundings, a line each.
    """

    questions: Questions
    assumed: Callable[[Design], tuple[str, ...]] = nothing_assumed


@dataclass(frozen=True)
class Subject:
    """What is to be proved: a design, by the way of its kind, a key of `KINDS`."""

    kind: str
    design: Design


def combinational_questions(design: Design, verilog: str) -> list[Question]:
    """Of a combinational datapath, of one format or several: every step equal to its specification, and the whole to
    golden's operation."""
    if design.implementation.stages:
        raise NotProvable(f"{design.name} has registers")
    return datapath_questions(design, verilog)


KINDS: Mapping[str, Kind] = {
    "datapath": Kind(combinational_questions),
    "pipeline": Kind(pipeline_questions, assumed),
    "whole": Kind(whole_questions),
}


def kind_of(design: Design) -> str:
    """By which kind a design is proved: a unit's combinational datapath, or any other design."""
    is_datapath = isinstance(design, UnitDesign) and not design.implementation.stages
    return "datapath" if is_datapath else "pipeline"


def subjects() -> list[Subject]:
    """All that `make formal` proves, each once; small units step by step and whole."""
    units = [UnitDesign(unit) for unit in (*every_unit(), *each_way())]
    stepwise = [Subject(kind_of(design), design) for design in (*units, *pipeline_subjects(), *whole_subjects())]
    return distinct_subjects([*stepwise, *(Subject("whole", design) for design in whole_subjects())])


def main_job_subjects() -> list[Subject]:
    """The main job's units, as they are built there."""
    designs = [UnitDesign(unit) for unit in main_units()]
    return [Subject(kind_of(design), design) for design in designs]


def distinct_subjects(listed: Sequence[Subject]) -> list[Subject]:
    """Of those that are alike but for their names the first."""
    found: dict[tuple[str, str], Subject] = {}
    for subject in listed:
        found.setdefault((subject.kind, design_key(subject.design.as_table())), subject)
    return list(found.values())


def every_unit() -> list[Unit]:
    """Every distinct datapath of the catalogue, in every encoding."""
    return [
        replace(unit, implementation=replace(unit.implementation, encoding=encoding, stages=0))
        for unit in golden.catalogue_units()
        for encoding in ENCODINGS
    ]


def built(implementation: Implementation) -> str:
    """How a design is built, in words: its encoding, and what is not as usual."""
    usual = Implementation()
    words = [implementation.encoding]
    words += [
        f"{key} {getattr(implementation, key)}"
        for key in ("max_exp", "reduction", "leading_zeros", "result_exp")
        if getattr(implementation, key) != getattr(usual, key)
    ]
    return ", ".join([*words, *([f"{implementation.stages} stages"] if implementation.stages else [])])
