"""The check of the method of proofs: a unit step by step, as a whole, and against golden for all operands.

The last needs neither the specification nor a solver nor the division into steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from golden import Operation, Unit
from golden.arrays import bits_dtype
from mmau.prove.datapath.unit_questions import Question, unit_questions
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.solvers.answer import Answer, Verdict
from mmau.prove.solvers.installed import PACKAGES, MissingSolver, solver
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.row_evaluation import columns
from mmau.prove.whole_unit import combinational_netlist, whole_questions
from rtl.designs.unit_design import UnitDesign

MOST = 1 << 25
"""Most rows of operands that are evaluated exhaustively."""


@dataclass(frozen=True)
class MethodCheck:
    """The verdicts on a unit, by steps and as a whole.

    Attributes:
        steps: verdict of all its obligations together. whole: verdict of the one question.
        rows: number of operands, if the netlist was compared with golden for all of them; else 0.
        wrong: operands for which it differs from golden; None if there are none.
    """

    steps: Verdict
    whole: Verdict
    rows: int
    wrong: Mapping[str, int] | None

    @property
    def agree(self) -> bool:
        """Whether all verdicts are known and agree."""
        verdicts = {self.steps, self.whole}
        if self.rows:
            verdicts.add("never" if self.wrong is None else "sometimes")
        return len(verdicts) == 1 and "unknown" not in verdicts


def check_methods(unit: Unit, verilog: str, seconds: float, exhaustive: bool = True) -> MethodCheck:
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
    return MethodCheck(steps, asked(whole, seconds).verdict, rows, first_wrong(unit, verilog) if rows else None)


def asked(question: Question, seconds: float) -> Answer:
    """The answer of the first solver that decides the question."""
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
    """The number of different operands of a step."""
    bits = operation.length * (operation.a.width + operation.b.width) + operation.c.width
    if operation.scale_format is not None:
        bits += 2 * operation.scales_per_step * operation.scale_format.width
    return 1 << bits


def first_wrong(unit: Unit, verilog: str) -> dict[str, int] | None:
    """Operands for which a combinational datapath does not give golden's d, codes by port; None if there are none.

    Every product of a code of a and one of b is taken, L = 1, with every code of c.

    Raises:
        ValueError: a unit with more products or with scales.
    """
    operation = unit.operation
    if operation.length != 1 or operation.scale_format is not None:
        raise ValueError(f"all operands are worked out of units with L = 1 and no scales alone, got {operation}")
    with deep_stack() as manager:
        inputs, d = combinational_netlist(Terms(manager), verilog)
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
