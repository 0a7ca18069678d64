"""Small units proved whole: d of the netlist against the specification of the whole operation, one question without steps.

It is the check of the method: a unit that is proved step by step (formal/obligations/) must be proved whole too, and one
that is refuted must be refuted. Where the operands are few enough, the netlist is worked out for all of them besides, and
compared with golden itself: there neither the specification nor a solver nor the division into steps has a say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from bitwuzla import Kind

from formal.obligations.units import SPECIFICATIONS, TOP, NotProvable, Question, deep_stack, unit_questions, unspecified
from formal.own.folding import Folding
from formal.own.rows import columns
from formal.smtlib import question
from formal.solvers.answer import PACKAGES, Answer, MissingSolver, Verdict, solver
from formal.specification.keep import Keep
from golden import Implementation, Operation, Unit
from golden.arrays import bits_dtype
from golden.operations import EFDPA, GSTFDPA, GTRFDPA, IDPA, STFDPA, TFDPA, TRFDPA
from golden.unit import ENCODINGS
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.circuit import Circuit, Setting
from rtl.verilog.expressions import NoTerm
from rtl.verilog.netlist import read_netlist
from rtl.verilog.terms import Bits, Terms

NAME = "whole"
"""The first word of the question's name."""

MOST = 1 << 25
"""Rows of operands that are all worked out."""

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
)  # fmt: skip

SMALL: tuple[Operation, ...] = tuple(
    table["operation"](**{key: value for key, value in table.items() if key != "operation"}) for table in _TABLES
)
"""Operations small enough: FP4, FP6 and FP8 with small L and F. Of those with a few bits all operands are worked out."""


def whole_units() -> list[Unit]:
    """The small units, in every encoding."""
    return [
        Unit(name=f"small-{number}", operation=operation, implementation=Implementation(encoding=encoding))
        for number, operation in enumerate(SMALL)
        for encoding in ENCODINGS
    ]


def whole_subjects() -> list[Design]:
    """The same, as what `make formal` proves."""
    return [UnitDesign(unit) for unit in whole_units()]


def whole_questions(design: Design, verilog: str) -> list[Question]:
    """Of a combinational datapath: the one question whether d ever differs from the specification.

    Args:
        verilog: of the datapath, its top module called `unit`.

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
            inputs, d = _netlist(terms, verilog)
            specified = SPECIFICATIONS[type(operation)](terms, operation, inputs, Keep())
            text, variables = question(manager.mk_term(Kind.DISTINCT, [d.term, specified.term]))
            return [Question(NAME, text, tuple(str(variable.symbol()) for variable in variables))]
        except NoTerm as error:
            refusal = str(error)
    raise NotProvable(refusal)


def _netlist(terms: Terms, verilog: str) -> tuple[dict[str, Bits], Bits]:
    """The input ports' variables and d of a combinational datapath.

    Raises:
        NoTerm: a statement that has no term, a register among them.
    """
    modules = read_netlist(verilog)
    top = modules[TOP]
    if top.registers:
        raise NoTerm(f"{TOP} has registers, where a combinational circuit must be")
    inputs = {name: terms.free(name, top.width(name)) for name, side in top.directions.items() if side == "input"}
    circuit = Circuit(Setting(terms, modules), top, {name: partial(_itself, bits) for name, bits in inputs.items()})
    return inputs, circuit.outputs()["d"]


def _itself(bits: Bits) -> Bits:
    return bits


# both ways, and the third one


@dataclass(frozen=True)
class BothWays:
    """What came of a unit.

    Attributes:
        steps: of all its obligations together. whole: of the one question.
        rows: operands for which the netlist was compared with golden, all there are; 0 where they are too many.
        wrong: operands for which it differs from golden; None where there are none.
    """

    steps: Verdict
    whole: Verdict
    rows: int
    wrong: Mapping[str, int] | None

    @property
    def agree(self) -> bool:
        """Whether the ways say the same, and what they say is known."""
        verdicts = {self.steps, self.whole}
        if self.rows:
            verdicts.add("never" if self.wrong is None else "sometimes")
        return len(verdicts) == 1 and "unknown" not in verdicts


def both_ways(unit: Unit, verilog: str, seconds: float, exhaustive: bool = True) -> BothWays:
    """Prove a unit step by step and whole, and compare it with golden for all operands, if they are few enough.

    Args:
        verilog: of the combinational datapath, its top module called `unit`. seconds: for each question and solver.
        exhaustive: whether to compare with golden at all.

    Raises:
        NotProvable: the obligations cannot be put together.
    """
    verdicts = {asked(each, seconds).verdict for each in unit_questions(unit, verilog)}
    steps: Verdict = "sometimes" if "sometimes" in verdicts else "never" if verdicts == {"never"} else "unknown"
    (whole,) = whole_questions(UnitDesign(unit), verilog)
    rows = count_of_rows(unit.operation) if exhaustive else 0
    if rows > MOST or unit.operation.length != 1 or unit.operation.scale_format is not None:
        rows = 0
    return BothWays(steps, asked(whole, seconds).verdict, rows, first_wrong(unit, verilog) if rows else None)


def asked(question: Question, seconds: float) -> Answer:
    """What the first solver that knows says."""
    answer = Answer("unknown", reason="no solver is installed")
    for name in PACKAGES:
        try:
            answer = solver(name)(question.text, seconds)
        except MissingSolver:
            continue
        if answer.verdict != "unknown":
            break
    return answer


def count_of_rows(operation: Operation) -> int:
    """How many different operands a step has."""
    bits = operation.length * (operation.a.width + operation.b.width) + operation.c.width
    if operation.scale_format is not None:
        bits += 2 * operation.scales_per_step * operation.scale_format.width
    return 1 << bits


def first_wrong(unit: Unit, verilog: str) -> dict[str, int] | None:
    """Operands for which a combinational datapath does not give golden's d, codes by port; None where it does for all.

    Every product of a code of a and one of b is taken, L = 1, with every code of c.

    Raises:
        ValueError: a unit with more products or with scales.
    """
    operation = unit.operation
    if operation.length != 1 or operation.scale_format is not None:
        raise ValueError(f"all operands are worked out of units with L = 1 and no scales alone, got {operation}")
    with deep_stack() as manager:
        inputs, d = _netlist(Terms(manager), verilog)
        c = np.arange(operation.c.codes, dtype=np.int64)
        for a, b in product(range(operation.a.codes), range(operation.b.codes)):
            by = {
                inputs[port].term: manager.mk_bv_value(inputs[port].term.sort(), code) for port, code in (("a", a), ("b", b))
            }
            term = Folding(manager, by).of(d.term)
            got = columns([term], {inputs["c"].term: c})[term]
            a_codes, b_codes = (
                np.full((len(c), 1), code, bits_dtype(fmt)) for code, fmt in ((a, operation.a), (b, operation.b))
            )
            expected = unit.dot(a_codes, b_codes, c.astype(bits_dtype(operation.c)))
            wrong = np.flatnonzero(got != expected)
            if len(wrong):
                return {"a": a, "b": b, "c": int(wrong[0])}
    return None
