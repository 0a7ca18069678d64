"""The proof that the specification of an operation is golden's own step, for all operands.

Golden's Python, executed on symbolic integers, gives a term; it is compared with the specification as the result of a user
design is: case by case, along the values that both have.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from bitwuzla import Term

from golden import Operation
from golden.stimulus import OperandShape, generate
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.deciding import Comparison
from mmau.prove.user_design.operand_cases import CaseParts, cases_of
from mmau.prove.user_design.row_evaluation import Column
from studies.symbolic.model_copy import Change, Modules, unchanged
from studies.symbolic.model_term import model_term, symbolic_golden

ROWS = 600
"""Number of rows of operands that show which values may be equal."""

SEED = 1

QUESTION = 5.0
"""Seconds of this process for the proof of one guess."""


@dataclass(frozen=True)
class Agreement:
    """Whether the specification of an operation is golden's step.

    Attributes:
        verdict: `PROVED`, `REFUTED` or `OPEN`. decided: the cases that are proved. reason: why it is open.
        inputs: packed operands on which the two differ, or golden raises an error, if refuted.
    """

    verdict: str
    decided: tuple[str, ...] = ()
    reason: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)


def agreement(operation: Operation, seconds: float, change: Change = unchanged) -> Agreement:
    """Prove that golden's step raises no error and gives the specification's d, for all operands, or find operands.

    Args:
        seconds: seconds of this process for all questions; the last one may take some seconds longer.
        change: change of golden's source; none by default.
    """
    with deep_stack() as manager:  # no term may outlive its manager
        limits = Limits(time.process_time() + seconds, QUESTION, time.process_time)
        return _agreement(Terms(manager), operation, limits, symbolic_golden(change))


def _agreement(terms: Terms, operation: Operation, limits: Limits, modules: Modules) -> Agreement:
    ports, parts = free_ports(terms, operation), CaseParts()
    d, error = model_term(terms, operation, ports, modules)
    variables = [bits.term for bits in ports.values()]
    raises = ask(terms.manager, [terms.is_nonzero(error.bits)], limits, variables)
    if raises.verdict == "sometimes":
        return Agreement(REFUTED, inputs=dict(zip(ports, raises.values, strict=True)))
    specified = SPECIFICATIONS[type(operation)](terms, operation, ports, parts)
    rows = _rows(operation, ports)
    decision = Comparison(terms, d, specified, terms.differs, cases_of(terms, parts), rows).decision(limits)
    if decision.verdict == "sometimes":
        return Agreement(REFUTED, inputs={port: decision.values.get(bits.term, 0) for port, bits in ports.items()})
    if decision.verdict == "never" and raises.verdict == "never":
        return Agreement(PROVED, decision.decided)
    return Agreement(OPEN, decision.decided, decision.open or "whether golden raises an error")


def free_ports(terms: Terms, operation: Operation) -> Mapping[str, Bits]:
    """A variable for each of the packed operands."""
    widths = {"a": operation.length * operation.a.width, "b": operation.length * operation.b.width, "c": operation.c.width}
    if operation.scale_format is not None:
        width = operation.scales_per_step * operation.scale_format.width
        widths |= {"scale_a": width, "scale_b": width}
    return {name: terms.free(name, width) for name, width in widths.items()}


def _rows(operation: Operation, ports: Mapping[str, Bits]) -> dict[Term, Column]:
    """Packed operands from the stimulus of co-simulation."""
    a, b, c, *scales = generate(OperandShape.of_operation(operation), ROWS, SEED).operands
    formats = (operation.a, operation.b, operation.c, operation.scale_format, operation.scale_format)
    found = {}
    for (_, bits), codes, fmt in zip(ports.items(), (a, b, c, *scales), formats, strict=False):
        assert codes is not None
        assert fmt is not None
        column = np.empty(len(codes), dtype=object)
        column[:] = [
            sum(code << (k * fmt.width) for k, code in enumerate(row)) for row in codes.reshape(len(codes), -1).tolist()
        ]
        found[bits.term] = column
    return found
