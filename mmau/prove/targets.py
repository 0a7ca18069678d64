"""Kinds of designs that are proved, and the function that makes the questions of each.

Small units are also proved whole: d of the netlist against the specification of the whole operation, in one question. This
checks the method: a unit that is proved step by step must also be proved whole, and one that is refuted must also be refuted
whole.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import bitwuzla

from golden import Implementation, Operation, Unit
from golden.operations import EFDPA, GSTFDPA, GTRFDPA, IDPA, OCFDPA, PSFDPA, STFDPA, TFDPA, TRFDPA
from golden.units.unit import ENCODINGS
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, TOP, NotProvable, Question, unspecified
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.questions import assumed, datapath_questions, pipeline_questions
from mmau.prove.smtlib import question
from mmau.prove.specification.observer import Observer
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign

NAME = "whole"
"""The first word of the question's name."""

_TABLES: tuple[dict[str, Any], ...] = (
    {"operation": TFDPA, "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 1, "F": 5, "rho": "RZ-FP16", "e_zero": -20},
    {"operation": TFDPA, "a": "e2m1", "b": "e2m1", "c": "bf16", "L": 1, "F": 7, "rho": "RNE-BF16", "e_zero": -133},
    {"operation": EFDPA, "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 1, "rho": "RNE-FP16"},
    {"operation": TFDPA, "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 2, "F": 3, "rho": "RZ-FP16", "e_zero": -20},
    {"operation": TFDPA, "a": "e4m3", "b": "e4m3", "c": "fp32", "L": 1, "F": 13, "rho": "RZ-E8M13", "e_zero": -133},
    {"operation": TFDPA, "a": "e5m2", "b": "e5m2", "c": "fp16", "L": 1, "F": 8, "rho": "RU-FP16", "e_zero": -21,
     "truncation": "RO"},
    {"operation": STFDPA, "a": "e2m1", "b": "e2m3", "c": "fp16", "L": 1, "F": 5, "rho": "RZ-FP16", "e_zero": -20,
     "K_block": 1},
    {"operation": GSTFDPA, "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 2, "F": 9, "rho": "RZ-FP32", "e_zero": -139, "G": 2,
     "K_block": 2, "scale": "ue8m0"},
    {"operation": TRFDPA, "a": "e2m1", "b": "e5m2", "c": "fp32", "L": 1, "F": 9, "F2": 12},
    {"operation": GTRFDPA, "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 2, "F": 6, "F2": 8},
    {"operation": IDPA, "a": "int8", "b": "uint8", "c": "int32", "L": 1, "overflow": "saturate"},
    {"operation": OCFDPA, "a": "e2m1", "b": "e5m2", "c": "fp16", "L": 1, "F": 6, "h": 2, "rho": "RNE-FP16", "e_zero": -14},
    {"operation": OCFDPA, "a": "e2m1", "b": "e2m1", "c": "bf16", "L": 2, "F": 8, "h": 2, "rho": "RNE-FP32-RZ-BF16",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": PSFDPA, "a": "e2m1", "b": "e5m2", "c": "fp16", "L": 2, "P": 2, "F": 6, "h": 2, "rho": "RNE-FP16",
     "e_zero": -14},
)  # fmt: skip

SMALL: tuple[Operation, ...] = tuple(
    table["operation"](**{key: value for key, value in table.items() if key != "operation"}) for table in _TABLES
)
"""Small operations: FP4, FP6 and FP8 with small L and F."""


def whole_units() -> list[Unit]:
    """The small units, in every encoding."""
    return [
        Unit(name=f"small-{number}", operation=operation, implementation=Implementation(encoding=encoding))
        for number, operation in enumerate(SMALL)
        for encoding in ENCODINGS
    ]


def whole_targets() -> list[Design]:
    """The small units as targets of `make formal`."""
    return [UnitDesign(unit) for unit in whole_units()]


def whole_questions(design: Design, verilog: str) -> list[Question]:
    """The one question of a combinational datapath: whether d ever differs from the specification.

    Args:
        verilog: the datapath, with a top module called `unit`.

    Raises:
        NotProvable: no specification of the operation, or Verilog that is not understood.
    """
    if not isinstance(design, UnitDesign) or design.implementation.stages:
        raise NotProvable(f"{design.name} is no combinational datapath of one unit")
    operation, refusal = design.unit.operation, unspecified(design.unit.operation)
    if refusal is not None:
        raise NotProvable(refusal)
    with deep_stack() as manager:
        terms = Terms(manager)
        try:
            inputs, d = combinational_netlist(terms, verilog)
            specified = SPECIFICATIONS[type(operation)](terms, operation, inputs, Observer())
            text, variables = question(manager.mk_term(bitwuzla.Kind.DISTINCT, [d.term, specified.term]))
            return [Question(NAME, text, tuple(str(variable.symbol()) for variable in variables))]
        except NoTerm as error:
            refusal = str(error)
    raise NotProvable(refusal)


def combinational_netlist(terms: Terms, verilog: str) -> tuple[dict[str, Bits], Bits]:
    """The input ports' variables and d of a combinational datapath.

    Raises:
        NoTerm: a statement that has no term, a register among them.
    """
    modules = read_netlist(verilog)
    top = modules[TOP]
    if top.registers:
        raise NoTerm(f"{TOP} has registers, where a combinational circuit must be")
    inputs = {name: terms.free(name, top.width(name)) for name, side in top.directions.items() if side == "input"}
    return inputs, Circuit.of_top(Setting(terms, modules), top, inputs).outputs()["d"]


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
