"""Kinds of designs that are proved, and the function that makes the questions of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mmau.prove.datapath.unit_questions import NotProvable, Question
from mmau.prove.pipeline.questions import assumed, datapath_questions, pipeline_questions
from mmau.prove.whole_unit import whole_questions
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign

Questions = Callable[[Design, str], list[Question]]
"""Function that returns the questions of a design and its Verilog, whose top module is called `unit`. If all are
unsatisfiable, the Verilog implements the design for all inputs. It raises NotProvable."""


def nothing_assumed(design: Design) -> tuple[str, ...]:
    """The assumptions of a proof that assumes nothing."""
    return ()


@dataclass(frozen=True)
class Kind:
    """The proof method of one kind of designs.

    Attributes:
        questions: see `Questions`. assumed: the assumptions of a proof about the environment of the design, a line each.
    """

    questions: Questions
    assumed: Callable[[Design], tuple[str, ...]] = nothing_assumed


def combinational_questions(design: Design, verilog: str) -> list[Question]:
    """The questions of a combinational datapath of one format or several: every step equals its specification, and the whole
    equals golden's operation."""
    if design.implementation.stages:
        raise NotProvable(f"{design.name} has registers")
    return datapath_questions(design, verilog)


KINDS: Mapping[str, Kind] = {
    "datapath": Kind(combinational_questions),
    "pipeline": Kind(pipeline_questions, assumed),
    "whole": Kind(whole_questions),
}


def kind_of(design: Design) -> str:
    """The kind by which a design is proved: a unit's combinational datapath, or any other design."""
    is_datapath = isinstance(design, UnitDesign) and not design.implementation.stages
    return "datapath" if is_datapath else "pipeline"
